/* ns-3's bare PointToPointNetDevice on the network of fabric.h: the least an ns-3 packet can cost.
 *
 * No IP, no sockets, no node demultiplexing: the device's receive callback is ours, reads a
 * four-byte header with the destination and hands the packet to the next device by table.
 * Frames are as long as in peer_udp.cc.
 */
#include "fabric.h"

#include <ns3/core-module.h>
#include <ns3/network-module.h>
#include <ns3/point-to-point-module.h>

#include <array>
#include <vector>

using namespace ns3;

namespace
{
constexpr uint16_t PROTOCOL = 0x0800; /* PPP framing in ns-3 knows only the two IP protocols */

class DestinationHeader : public Header
{
  public:
    uint32_t host = 0;

    static TypeId GetTypeId()
    {
        static TypeId id =
            TypeId("DestinationHeader").SetParent<Header>().AddConstructor<DestinationHeader>();
        return id;
    }
    TypeId GetInstanceTypeId() const override
    {
        return GetTypeId();
    }
    uint32_t GetSerializedSize() const override
    {
        return 4;
    }
    void Serialize(Buffer::Iterator at) const override
    {
        at.WriteHtonU32(host);
    }
    uint32_t Deserialize(Buffer::Iterator at) override
    {
        host = at.ReadNtohU32();
        return 4;
    }
    void Print(std::ostream &os) const override
    {
        os << host;
    }
};

constexpr uint32_t BODY_BYTES = fabric::FRAME_BYTES - fabric::PPP_BYTES - 4;

uint64_t n_sent, n_received;
const Address broadcast = Mac48Address::GetBroadcast(); /* made once: it is parsed from text */
Time stop_at;

/* The forwarding table of one switch: the next device towards each host. */
struct Switch {
    std::array<Ptr<NetDevice>, fabric::N_HOSTS> next;

    bool forward(Ptr<NetDevice>, Ptr<const Packet> packet, uint16_t, const Address &)
    {
        DestinationHeader to;
        packet->PeekHeader(to);
        const Ptr<NetDevice> &out = next[to.host];
        return out->Send(ConstCast<Packet>(packet), broadcast, PROTOCOL);
    }
};

bool count_received(Ptr<NetDevice>, Ptr<const Packet>, uint16_t, const Address &)
{
    n_received++;
    return true;
}

void send_next(Ptr<NetDevice> nic, uint32_t to)
{
    if (Simulator::Now() >= stop_at)
        return;
    DestinationHeader header;
    header.host = to;
    Ptr<Packet> packet = Create<Packet>(BODY_BYTES);
    packet->AddHeader(header);
    if (nic->Send(packet, broadcast, PROTOCOL))
        n_sent++;
    Simulator::Schedule(PicoSeconds(fabric::SEND_EVERY_PS), &send_next, nic, to);
}

void attach(Switch &sw, Ptr<NetDevice> port)
{
    port->SetReceiveCallback(MakeCallback(&Switch::forward, &sw));
}
} // namespace

int main(int argc, char **argv)
{
    int64_t stop_us = fabric::STOP_DEFAULT_US;
    CommandLine cmd(__FILE__);
    cmd.AddValue("stop_us", "simulated microseconds of traffic", stop_us);
    cmd.Parse(argc, argv);
    Time::SetResolution(Time::PS);
    stop_at = MicroSeconds(stop_us);

    NodeContainer hosts(fabric::N_HOSTS), leaf_nodes(fabric::N_LEAVES),
        spine_nodes(fabric::N_SPINES);
    std::vector<Switch> leaves(fabric::N_LEAVES), spines(fabric::N_SPINES);
    std::vector<Ptr<NetDevice>> nics;
    PointToPointHelper host_link, fabric_link;
    host_link.SetDeviceAttribute("DataRate", StringValue(fabric::HOST_RATE));
    fabric_link.SetDeviceAttribute("DataRate", StringValue(fabric::FABRIC_RATE));
    host_link.SetChannelAttribute("Delay", StringValue(fabric::DELAY));
    fabric_link.SetChannelAttribute("Delay", StringValue(fabric::DELAY));

    for (uint32_t i = 0; i < fabric::N_HOSTS; i++) {
        uint32_t leaf = i / fabric::HOSTS_PER_LEAF;
        NetDeviceContainer ends = host_link.Install(leaf_nodes.Get(leaf), hosts.Get(i));
        attach(leaves[leaf], ends.Get(0));
        leaves[leaf].next[i] = ends.Get(0);
        ends.Get(1)->SetReceiveCallback(MakeCallback(&count_received));
        nics.push_back(ends.Get(1));
    }
    for (uint32_t leaf = 0; leaf < fabric::N_LEAVES; leaf++) {
        for (uint32_t spine = 0; spine < fabric::N_SPINES; spine++) {
            NetDeviceContainer ends =
                fabric_link.Install(leaf_nodes.Get(leaf), spine_nodes.Get(spine));
            attach(leaves[leaf], ends.Get(0));
            attach(spines[spine], ends.Get(1));
            for (uint32_t i = 0; i < fabric::N_HOSTS; i++) {
                if (i / fabric::HOSTS_PER_LEAF == leaf)
                    spines[spine].next[i] = ends.Get(1);
                else if (fabric::spine_towards(i) == spine)
                    leaves[leaf].next[i] = ends.Get(0);
            }
        }
    }
    for (uint32_t i = 0; i < fabric::N_HOSTS; i++)
        Simulator::ScheduleWithContext(hosts.Get(i)->GetId(), PicoSeconds(fabric::first_send_ps(i)),
                                       &send_next, nics[i], (i + fabric::SHIFT) % fabric::N_HOSTS);

    double begin = fabric::wall_s();
    Simulator::Run();
    double seconds = fabric::wall_s() - begin;
    int status = fabric::report("ns-3 bare point-to-point", n_sent, n_received, seconds);
    Simulator::Destroy();
    return status;
}
