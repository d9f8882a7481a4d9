/* The network and traffic that every peer runs, as numbers; cbr.yaml says the same to xoff.
 *
 * Leaf-spine: host i hangs on leaf i / HOSTS_PER_LEAF and sends frames of FRAME_BYTES to host
 * (i + SHIFT) % N_HOSTS, so every frame crosses a spine: HOPS links. A fabric link carries the load
 * of a whole leaf, so that no choice of path congests and nothing is dropped on either side.
 */
#ifndef PEERS_FABRIC_H
#define PEERS_FABRIC_H

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <string>

namespace fabric
{
constexpr uint32_t N_LEAVES = 4;
constexpr uint32_t N_SPINES = 2;
constexpr uint32_t HOSTS_PER_LEAF = 8;
constexpr uint32_t N_HOSTS = N_LEAVES * HOSTS_PER_LEAF;
constexpr uint32_t SHIFT = 8;
constexpr uint32_t HOPS = 4; /* host, leaf, spine, leaf: one link each */

constexpr const char *HOST_RATE = "100Gbps";
constexpr const char *FABRIC_RATE = "400Gbps";
constexpr const char *DELAY = "1us";

constexpr uint32_t FRAME_BYTES = 1518;
constexpr uint32_t PPP_BYTES = 2;         /* added by PointToPointNetDevice */
constexpr int64_t SEND_EVERY_PS = 303600; /* 1518 B at 40 Gb/s */
constexpr int64_t STOP_DEFAULT_US = 5000;

/* Senders start spread over one interval rather than all at once. */
inline int64_t first_send_ps(uint32_t host)
{
    return SEND_EVERY_PS * host / N_HOSTS;
}

/* Half of the hosts of each leaf are reached through each spine. */
inline uint32_t spine_towards(uint32_t host)
{
    return host % HOSTS_PER_LEAF / (HOSTS_PER_LEAF / N_SPINES);
}

inline double wall_s()
{
    timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

/* When as many frames arrived as were sent, each crossed all its links. Otherwise the comparison is
 * invalid, and the exit status says so. */
inline int report(const std::string &name, uint64_t sent, uint64_t received, double seconds)
{
    uint64_t hops = received * HOPS;
    std::printf("{\"peer\": \"%s\", \"sent\": %llu, \"received\": %llu, \"packet_hops\": %llu, "
                "\"wall_s\": %.6f, \"packet_hops_per_s\": %.0f}\n",
                name.c_str(), static_cast<unsigned long long>(sent),
                static_cast<unsigned long long>(received), static_cast<unsigned long long>(hops),
                seconds, static_cast<double>(hops) / seconds);
    if (sent == 0 || sent != received) {
        std::fprintf(stderr, "%s: %llu frames sent but %llu received\n", name.c_str(),
                     static_cast<unsigned long long>(sent),
                     static_cast<unsigned long long>(received));
        return 1;
    }
    return 0;
}
} // namespace fabric

#endif
