/* ns-3 with its UDP/IP stack on the network of fabric.h.
 *
 * As cheap as an ns-3 user can have it without leaving the stack: static routing alone, with one
 * route per half leaf, no ARP (point-to-point links), no IPv6, senders and receivers that only send
 * and count. `--qdisc=0` also removes the FqCoDel queue disc that ns-3 installs by default.
 * A frame on the wire is the payload, 8 bytes of UDP, 20 of IP and 2 of PPP: fabric::FRAME_BYTES.
 */
#include "fabric.h"

#include <ns3/core-module.h>
#include <ns3/internet-module.h>
#include <ns3/network-module.h>
#include <ns3/point-to-point-module.h>
#include <ns3/traffic-control-module.h>

#include <vector>

using namespace ns3;

namespace
{
constexpr uint32_t PAYLOAD_BYTES = fabric::FRAME_BYTES - fabric::PPP_BYTES - 20 - 8;
constexpr uint16_t UDP_PORT = 9;

uint64_t n_sent, n_received;
Time stop_at;

void send_next(Ptr<Socket> socket)
{
    if (Simulator::Now() >= stop_at)
        return;
    if (socket->Send(Create<Packet>(PAYLOAD_BYTES)) > 0)
        n_sent++;
    Simulator::Schedule(PicoSeconds(fabric::SEND_EVERY_PS), &send_next, socket);
}

void count_received(Ptr<Socket> socket)
{
    while (socket->Recv())
        n_received++;
}

/* Addresses: host h of leaf l is 10.l.h.2 and its leaf's port 10.l.h.1; fabric link l-s is
 * 172.16.(l * N_SPINES + s).0/30 with the leaf at .1 and the spine at .2. */
std::string address(const char *form, uint32_t a, uint32_t b)
{
    char text[32];
    std::snprintf(text, sizeof text, form, a, b);
    return text;
}

Ipv4Address host_address(uint32_t host)
{
    return Ipv4Address(
        address("10.%u.%u.2", host / fabric::HOSTS_PER_LEAF, host % fabric::HOSTS_PER_LEAF)
            .c_str());
}

Ptr<Ipv4StaticRouting> routing_of(Ptr<Node> node)
{
    return Ipv4StaticRoutingHelper().GetStaticRouting(node->GetObject<Ipv4>());
}

/* All hosts of `leaf` that fabric::spine_towards() sends through `spine` share one prefix. */
void add_half_leaf_route(Ptr<Node> node, uint32_t leaf, uint32_t spine, Ipv4Address next_hop,
                         uint32_t interface)
{
    constexpr uint32_t half = fabric::HOSTS_PER_LEAF / fabric::N_SPINES;
    static_assert(half == 4 && fabric::N_SPINES == 2, "/22 covers 4 third octets");
    routing_of(node)->AddNetworkRouteTo(
        Ipv4Address(address("10.%u.%u.0", leaf, spine * half).c_str()), Ipv4Mask("255.255.252.0"),
        next_hop, interface);
}

struct Network {
    NodeContainer hosts, leaves, spines;
};

void connect_hosts(const Network &net, PointToPointHelper &link, bool qdisc)
{
    Ipv4AddressHelper addresses;
    for (uint32_t i = 0; i < fabric::N_HOSTS; i++) {
        uint32_t leaf = i / fabric::HOSTS_PER_LEAF, slot = i % fabric::HOSTS_PER_LEAF;
        NetDeviceContainer ends = link.Install(net.leaves.Get(leaf), net.hosts.Get(i));
        addresses.SetBase(address("10.%u.%u.0", leaf, slot).c_str(), "255.255.255.252");
        Ipv4InterfaceContainer ifs = addresses.Assign(ends);
        if (!qdisc)
            TrafficControlHelper().Uninstall(ends);
        routing_of(net.hosts.Get(i))->SetDefaultRoute(ifs.GetAddress(0), ifs.Get(1).second);
    }
}

void connect_fabric(const Network &net, PointToPointHelper &link, bool qdisc)
{
    Ipv4AddressHelper addresses;
    for (uint32_t leaf = 0; leaf < fabric::N_LEAVES; leaf++) {
        for (uint32_t spine = 0; spine < fabric::N_SPINES; spine++) {
            NetDeviceContainer ends = link.Install(net.leaves.Get(leaf), net.spines.Get(spine));
            addresses.SetBase(address("172.16.%u.%u", leaf * fabric::N_SPINES + spine, 0).c_str(),
                              "255.255.255.252");
            Ipv4InterfaceContainer ifs = addresses.Assign(ends);
            if (!qdisc)
                TrafficControlHelper().Uninstall(ends);
            for (uint32_t to = 0; to < fabric::N_LEAVES; to++)
                if (to != leaf)
                    add_half_leaf_route(net.leaves.Get(leaf), to, spine, ifs.GetAddress(1),
                                        ifs.Get(0).second);
            add_half_leaf_route(net.spines.Get(spine), leaf, spine, ifs.GetAddress(0),
                                ifs.Get(1).second);
        }
    }
}

void start_traffic(const Network &net, std::vector<Ptr<Socket>> &sockets)
{
    for (uint32_t i = 0; i < fabric::N_HOSTS; i++) {
        Ptr<Socket> in = Socket::CreateSocket(net.hosts.Get(i), UdpSocketFactory::GetTypeId());
        in->Bind(InetSocketAddress(Ipv4Address::GetAny(), UDP_PORT));
        in->SetRecvCallback(MakeCallback(&count_received));
        Ptr<Socket> out = Socket::CreateSocket(net.hosts.Get(i), UdpSocketFactory::GetTypeId());
        out->Bind();
        out->Connect(
            InetSocketAddress(host_address((i + fabric::SHIFT) % fabric::N_HOSTS), UDP_PORT));
        Simulator::ScheduleWithContext(net.hosts.Get(i)->GetId(),
                                       PicoSeconds(fabric::first_send_ps(i)), &send_next, out);
        sockets.push_back(in);
        sockets.push_back(out);
    }
}
} // namespace

int main(int argc, char **argv)
{
    int64_t stop_us = fabric::STOP_DEFAULT_US;
    bool qdisc = true;
    CommandLine cmd(__FILE__);
    cmd.AddValue("stop_us", "simulated microseconds of traffic", stop_us);
    cmd.AddValue("qdisc", "keep the default queue disc", qdisc);
    cmd.Parse(argc, argv);
    Time::SetResolution(Time::PS);
    stop_at = MicroSeconds(stop_us);

    Network net;
    net.hosts.Create(fabric::N_HOSTS);
    net.leaves.Create(fabric::N_LEAVES);
    net.spines.Create(fabric::N_SPINES);
    Ipv4StaticRoutingHelper only_static;
    InternetStackHelper stack;
    stack.SetIpv6StackInstall(false);
    stack.SetRoutingHelper(only_static);
    stack.InstallAll();

    PointToPointHelper host_link, fabric_link;
    host_link.SetDeviceAttribute("DataRate", StringValue(fabric::HOST_RATE));
    fabric_link.SetDeviceAttribute("DataRate", StringValue(fabric::FABRIC_RATE));
    host_link.SetChannelAttribute("Delay", StringValue(fabric::DELAY));
    fabric_link.SetChannelAttribute("Delay", StringValue(fabric::DELAY));
    connect_hosts(net, host_link, qdisc);
    connect_fabric(net, fabric_link, qdisc);
    std::vector<Ptr<Socket>> sockets;
    start_traffic(net, sockets);

    double begin = fabric::wall_s();
    Simulator::Run();
    double seconds = fabric::wall_s() - begin;
    int status = fabric::report(qdisc ? "ns-3 UDP/IP" : "ns-3 UDP/IP without queue discs", n_sent,
                                n_received, seconds);
    Simulator::Destroy();
    return status;
}
