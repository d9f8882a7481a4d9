/* Flow sizes measured or assumed in the literature, as points of their cumulative distributions.
 *
 * The points are those in use in public simulators, so that runs compare: traffic_gen of HPCC's
 * ns-3 (websearch, fb_hadoop, alistorage, googlerpc), the ConWeave artifact (solar, mining,
 * webserver, cachefollower, fb_hadoop_fine), the datacenter simulator of PowerTCP
 * (websearch_powertcp, whose first segment is split) and the load-balancing simulator with the VL2
 * points (vl2). `source` names the measurement behind each.
 *
 * Differs: googlerpc has 64 of the 843 published points. They were chosen by taking away, one after
 * another, the point that changes the mean and the curve (over the logarithm of the size) least; no
 * part moves by more than 0.005 and the mean rises by 0.6 %, from 2892 B to 2908 B. In the same way
 * fb_hadoop_fine has 64 of 461: no part moves by more than 0.001 and the mean rises by 0.05 %, from
 * 121849 B to 121906 B.
 */
#include "traffic/sizes.h"

static const struct sizes_point websearch[] = {
    {0, 0},        {10000, 0.15},  {20000, 0.2},   {30000, 0.3},   {50000, 0.4},     {80000, 0.53},
    {200000, 0.6}, {1000000, 0.7}, {2000000, 0.8}, {5000000, 0.9}, {10000000, 0.97}, {30000000, 1},
};

static const struct sizes_point websearch_powertcp[] = {
    {0, 0},         {2000, 0},      {2100, 0.02},     {2500, 0.05},  {6000, 0.1},   {10000, 0.15},
    {20000, 0.2},   {30000, 0.3},   {50000, 0.4},     {80000, 0.53}, {200000, 0.6}, {1000000, 0.7},
    {2000000, 0.8}, {5000000, 0.9}, {10000000, 0.97}, {30000000, 1},
};

static const struct sizes_point fb_hadoop[] = {
    {0, 0},        {100, 0.01},    {200, 0.02},      {300, 0.05},     {350, 0.15},
    {400, 0.2},    {500, 0.3},     {600, 0.4},       {700, 0.5},      {1000, 0.6},
    {2000, 0.67},  {7000, 0.7},    {30000, 0.72},    {50000, 0.82},   {80000, 0.87},
    {120000, 0.9}, {300000, 0.95}, {1000000, 0.975}, {2000000, 0.99}, {10000000, 1},
};

static const struct sizes_point alistorage[] = {
    {0, 0},          {4000, 0.2293},   {8000, 0.6921},   {16000, 0.8061}, {32000, 0.9047},
    {64000, 0.9353}, {128000, 0.9677}, {256000, 0.9753}, {2000000, 1},
};

static const struct sizes_point solar[] = {
    {0, 0},       {4095, 0.00001}, {4096, 0.3},   {16383, 0.35},
    {16384, 0.5}, {65535, 0.6},    {65536, 0.95}, {262144, 1},
};

static const struct sizes_point mining[] = {
    {100, 0},          {10000, 0.8},    {152522, 0.8346}, {390541, 0.9}, {3223542, 0.953846},
    {100000000, 0.99}, {1000000000, 1},
};

static const struct sizes_point webserver[] = {
    {150, 0},       {300, 0.12},   {300, 0.2},  {600, 0.2},    {1000, 0.3},
    {2000, 0.4},    {3100, 0.5},   {6000, 0.6}, {20000, 0.71}, {60000, 0.8},
    {150000, 0.82}, {300000, 0.9}, {500000, 1},
};

static const struct sizes_point cachefollower[] = {
    {70, 0},       {70, 0.01},       {150, 0.015},   {150, 0.04},    {300, 0.08},   {350, 0.1},
    {350, 0.19},   {450, 0.2},       {500, 0.28},    {600, 0.3},     {700, 0.35},   {1100, 0.4},
    {2000, 0.42},  {10000, 0.48},    {30000, 0.5},   {100000, 0.52}, {200000, 0.6}, {400000, 0.68},
    {600000, 0.7}, {1500000, 0.701}, {2000000, 0.8}, {2400000, 0.9}, {3000000, 1},
};

static const struct sizes_point vl2[] = {
    {0, 0},          {180, 0.1},        {216, 0.2},      {560, 0.3},   {900, 0.4},
    {1100, 0.5},     {1870, 0.6},       {3160, 0.7},     {10000, 0.8}, {400000, 0.9},
    {3160000, 0.95}, {100000000, 0.98}, {1000000000, 1},
};

static const struct sizes_point googlerpc[] = {
    {0, 0},
    {3, 0.064883},
    {32, 0.097324},
    {40, 0.120503},
    {53, 0.143681},
    {64, 0.155271},
    {85, 0.253422},
    {110, 0.318856},
    {128, 0.351573},
    {146, 0.388155},
    {186, 0.443028},
    {256, 0.497901},
    {296, 0.576179},
    {331, 0.628365},
    {375, 0.680550},
    {433, 0.732736},
    {512, 0.784921},
    {623, 0.812878},
    {717, 0.829652},
    {896, 0.852017},
    {1271, 0.880957},
    {1755, 0.901252},
    {2286, 0.914298},
    {3171, 0.927344},
    {4096, 0.934955},
    {4617, 0.941583},
    {6046, 0.953893},
    {7469, 0.961468},
    {9735, 0.970773},
    {11385, 0.975745},
    {13709, 0.980716},
    {16384, 0.984694},
    {19735, 0.986633},
    {26719, 0.989110},
    {33250, 0.990485},
    {40739, 0.991519},
    {50809, 0.992429},
    {65536, 0.993256},
    {78122, 0.994504},
    {87381, 0.995192},
    {103478, 0.996096},
    {131072, 0.997129},
    {150160, 0.997466},
    {181959, 0.997870},
    {230843, 0.998274},
    {313344, 0.998795},
    {385654, 0.999123},
    {463677, 0.999362},
    {524288, 0.999498},
    {638985, 0.999592},
    {877704, 0.999708},
    {1079314, 0.999766},
    {1284581, 0.999806},
    {1609891, 0.999849},
    {2073128, 0.999887},
    {2448954, 0.999907},
    {2991214, 0.999927},
    {3710020, 0.999945},
    {5114695, 0.999965},
    {6309051, 0.999975},
    {8231141, 0.999985},
    {9710291, 0.999990},
    {11837511, 0.999995},
    {15158197, 1},
};

static const struct sizes_point fb_hadoop_fine[] = {
    {0, 0},
    {53, 0.00074},
    {81, 0.00592},
    {119, 0.00965},
    {217, 0.0149},
    {279, 0.04423},
    {300, 0.052},
    {303, 0.06055},
    {305, 0.0691},
    {308, 0.07765},
    {310, 0.0862},
    {313, 0.09475},
    {315, 0.1033},
    {321, 0.1204},
    {323, 0.12895},
    {326, 0.1375},
    {335, 0.15052},
    {376, 0.2026},
    {425, 0.223},
    {480, 0.2639},
    {513, 0.32246},
    {561, 0.40054},
    {600, 0.4591},
    {630, 0.48214},
    {679, 0.5167},
    {737, 0.552},
    {800, 0.5762},
    {885, 0.5912},
    {1042, 0.6097},
    {1413, 0.6394},
    {1534, 0.6468},
    {1664, 0.6673},
    {2214, 0.6747},
    {2987, 0.68121},
    {7830, 0.7082},
    {18203, 0.716},
    {31946, 0.7212},
    {36844, 0.7305},
    {39973, 0.7398},
    {44260, 0.7584},
    {47050, 0.7788},
    {51046, 0.816},
    {62583, 0.8234},
    {70722, 0.8327},
    {75180, 0.842},
    {81565, 0.8717},
    {95421, 0.88346},
    {115331, 0.8978},
    {133013, 0.907},
    {164410, 0.91919},
    {240177, 0.9442},
    {288520, 0.9535},
    {350858, 0.95722},
    {470507, 0.9628},
    {615716, 0.96616},
    {940700, 0.9721},
    {1211116, 0.97582},
    {2169118, 0.987},
    {2944602, 0.9896},
    {3997329, 0.9922},
    {5426418, 0.9948},
    {7366423, 0.9974},
    {8582787, 0.9987},
    {10000000, 1},
};

#define NAMED(points, source)                                     \
    {                                                             \
#points, source, points, sizeof points / sizeof points[0] \
    }

const struct sizes_named sizes_named[] = {
    NAMED(websearch, "web search cluster (DCTCP, SIGCOMM 2010), points of HPCC"),
    NAMED(fb_hadoop, "Hadoop at Facebook (Roy et al., SIGCOMM 2015), points of HPCC"),
    NAMED(alistorage, "storage at Alibaba (HPCC, SIGCOMM 2019)"),
    NAMED(solar, "storage at Alibaba (Solar, SIGCOMM 2022), points of ConWeave"),
    NAMED(mining, "data mining cluster (VL2, SIGCOMM 2009), points of ConWeave"),
    NAMED(webserver, "web servers at Facebook (Roy et al., SIGCOMM 2015), points of ConWeave"),
    NAMED(cachefollower, "caches at Facebook (Roy et al., SIGCOMM 2015), points of ConWeave"),
    NAMED(vl2, "data mining cluster (VL2, SIGCOMM 2009), points of a load-balancing simulator"),
    NAMED(googlerpc, "remote procedure calls at Google (2008), 64 of 843 points of HPCC"),
    NAMED(websearch_powertcp, "web search cluster (DCTCP, SIGCOMM 2010), points of PowerTCP"),
    NAMED(fb_hadoop_fine,
          "Hadoop at Facebook (Roy et al., SIGCOMM 2015), 64 of 461 points of ConWeave"),
    {0},
};
