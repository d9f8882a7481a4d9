-- Wireshark dissectors for congestion notification: CN-TAG and CNM of 802.1Qau, the BCN message and
-- the rate-regulation tag of ECM, the rate tag of FECN, and xoff's notice of all other schemes.
--
--   tshark -X lua_script:xoff.lua -r run.pcapng -Y cnm -T fields -e cn-tag.flow -e cnm.feedback
--
-- Source: 802.1Q clauses 30 to 33 for CN-TAG and CNM; docs/wire.md for the others, whose layouts are
-- xoff's. The tables below are all there is to know about a header: fields, checks and the tree are
-- made from them. Protocols and fields are named as in `xoff decode -j`.

-- A field: name, label, kind, offset, octets, mask over these octets (none: all of them). A header
-- that ends with a field "type" is a tag: what follows belongs to that EtherType.
local CN_TAG = {
    name = "cn-tag", title = "Congestion Notification Tag", octets = 4,
    fields = {
        {"flow", "Flow identifier", "number", 0, 2},
        {"type", "EtherType", "id", 2, 2},
    },
}

local CNM = {
    name = "cnm", title = "Congestion Notification Message", octets = 24,
    fields = {
        {"version", "Version", "zero", 0, 2, 0xf000},
        {"reserved", "Reserved", "zero", 0, 2, 0x0fc0},
        {"feedback", "Quantized feedback", "number", 0, 2, 0x003f},
        {"cp_id", "Congestion point", "id", 2, 8},
        {"queue_offset", "Queue offset in 64 octets", "signed", 10, 2},
        {"queue_delta", "Queue delta in 64 octets", "signed", 12, 2},
        {"about_priority", "Priority of the sampled frame", "number", 14, 2, 0xe000},
        {"about_reserved", "Reserved", "zero", 14, 2, 0x1fff},
        {"about_destination", "Destination of the sampled frame", "address", 16, 6},
        {"msdu_octets", "Octets of its MSDU that follow", "number", 22, 2},
    },
    rest = {"msdu", "MSDU of the sampled frame, its beginning", 22, 2},
}

-- EtherType 0x8904: the first octet tells the message from the tag.
local BCN = {
    name = "bcn", title = "Backward Congestion Notification", octets = 24,
    fields = {
        {"kind", "Kind", "number", 0, 1},
        {"reserved", "Reserved", "zero", 1, 1, 0xfe},
        {"stop", "Stop", "flag", 1, 1, 0x01},
        {"cp_id", "Congestion point", "id", 2, 8},
        {"queue_offset", "Queue offset in 64 octets", "signed", 10, 2},
        {"queue_delta", "Queue delta in 64 octets", "signed", 12, 2},
        {"about_destination", "Destination of the sampled frame", "address", 14, 6},
        {"flow", "Flow of the sampled frame", "number", 20, 4},
    },
}
local RRT_KIND = 1
local RRT = {
    name = "rrt", title = "Rate Regulation Tag", octets = 12,
    fields = {
        {"kind", "Kind", "number", 0, 1},
        {"reserved", "Reserved", "zero", 1, 1, 0xfe},
        {"limited", "Flow is limited", "flag", 1, 1, 0x01},
        {"cp_id", "Congestion point that limits it", "id", 2, 8},
        {"type", "EtherType", "id", 10, 2},
    },
}

local RATE_TAG = {
    name = "rate-tag", title = "FECN Rate Tag", octets = 16,
    fields = {
        {"version", "Version", "zero", 0, 1, 0xf0},
        {"reserved", "Reserved", "zero", 0, 1, 0x0e},
        {"direction", "Direction", "direction", 0, 1, 0x01},
        {"kind", "Kind", "number", 1, 1},
        {"flow", "Flow", "number", 2, 4},
        {"rate_bps", "Rate in bit/s, all ones: none yet", "number", 6, 8},
        {"type", "EtherType", "id", 14, 2},
    },
}

local NOTICE = {
    name = "notice", title = "xoff Notice", octets = 33,
    fields = {
        {"kind", "Kind", "number", 0, 1},
        {"cp_id", "Congestion point", "id", 1, 8},
        {"feedback", "Feedback", "signed", 9, 4},
        {"queue_offset_bytes", "Queue offset in octets", "signed", 13, 4},
        {"queue_delta_bytes", "Queue delta in octets", "signed", 17, 4},
        {"rate_bps", "Rate in bit/s", "number", 21, 8},
        {"flow", "Flow", "number", 29, 4},
    },
}

-- Constructors of fields by their kind.
local UNSIGNED = {[1] = ProtoField.uint8, [2] = ProtoField.uint16, [4] = ProtoField.uint32,
                  [8] = ProtoField.uint64}
local SIGNED = {[2] = ProtoField.int16, [4] = ProtoField.int32}
local MAKE = {
    number = function(name, label, octets, mask)
        return UNSIGNED[octets](name, label, base.DEC, nil, mask)
    end,
    id = function(name, label, octets) return UNSIGNED[octets](name, label, base.HEX) end,
    signed = function(name, label, octets) return SIGNED[octets](name, label, base.DEC) end,
    flag = function(name, label, octets, mask)
        return ProtoField.bool(name, label, 8 * octets, nil, mask)
    end,
    address = function(name, label) return ProtoField.ether(name, label) end,
    direction = function(name, label, octets, mask)
        return UNSIGNED[octets](name, label, base.DEC, {[0] = "forward", [1] = "back"}, mask)
    end,
}
MAKE.zero = MAKE.number

local ethertypes = DissectorTable.get("ethertype")

-- Gives what follows a tag to the dissector of its EtherType. Below 1536 that is a length (802.3
-- 3.2.6), and 0 behind the rate tag of a probe, which carries nothing else.
local function dissect_behind(tvb, at, pinfo, tree)
    local type_or_length = tvb(at - 2, 2):uint()
    if type_or_length == 0 or tvb:captured_len() == at then
        return
    end
    local rest = tvb(at):tvb()
    if type_or_length < 1536 then
        Dissector.get("llc"):call(rest, pinfo, tree)
    elseif ethertypes:try(type_or_length, rest, pinfo, tree) == 0 then
        Dissector.get("data"):call(rest, pinfo, tree)
    end
end

-- Makes a protocol of a header's table.
local function make_protocol(header)
    local proto = Proto(header.name, header.title)
    local is_cut = ProtoExpert.new(header.name .. ".cut", "The frame ends within the header",
                                   expert.group.MALFORMED, expert.severity.ERROR)
    local not_zero = ProtoExpert.new(header.name .. ".not_zero", "This field should be 0",
                                     expert.group.PROTOCOL, expert.severity.WARN)
    local is_tag = header.fields[#header.fields][1] == "type"
    local fields, rest = {}, nil
    for i, f in ipairs(header.fields) do
        fields[i] = MAKE[f[3]](header.name .. "." .. f[1], f[2], f[5], f[6])
    end
    if header.rest then
        rest = ProtoField.bytes(header.name .. "." .. header.rest[1], header.rest[2])
        fields[#fields + 1] = rest
    end
    proto.fields = fields
    proto.experts = {is_cut, not_zero}

    function proto.dissector(tvb, pinfo, tree)
        local length = tvb:captured_len()
        local item = tree:add(proto, tvb(0, math.min(header.octets, length)))
        pinfo.cols.protocol = string.upper(header.name)
        pinfo.cols.info = header.title
        for i, f in ipairs(header.fields) do
            if f[4] + f[5] > length then
                item:add_proto_expert_info(is_cut)
                return length
            end
            local octets = tvb(f[4], f[5])
            local line = item:add(fields[i], octets)
            if f[3] == "zero" and bit32.band(octets:uint(), f[6]) ~= 0 then
                line:add_proto_expert_info(not_zero)
            end
        end
        local n = rest and tvb(header.rest[3], header.rest[4]):uint() or 0
        if header.octets + n > length then
            item:add_proto_expert_info(is_cut)
        elseif n > 0 then
            item:add(rest, tvb(header.octets, n))
        end
        if is_tag then
            dissect_behind(tvb, header.octets, pinfo, tree)
        end
        return length
    end
    return proto
end

ethertypes:add(0x22e9, make_protocol(CN_TAG))
ethertypes:add(0x22e7, make_protocol(CNM))
ethertypes:add(0x88b6, make_protocol(RATE_TAG))
ethertypes:add(0x88b5, make_protocol(NOTICE))

local message, tag = make_protocol(BCN), make_protocol(RRT)
local either = Proto("bcn_or_rrt", "Backward congestion notification or its tag")
function either.dissector(tvb, pinfo, tree)
    local is_tag = tvb:captured_len() > 0 and tvb(0, 1):uint() == RRT_KIND
    return (is_tag and tag or message).dissector(tvb, pinfo, tree)
end
ethertypes:add(0x8904, either)
