-- Wireshark dissectors for congestion notification: CN-TAG and CNM of 802.1Qau, the BCN message and
-- the rate-regulation tag of ECM, the rate tag of FECN, and xoff's notice of all other schemes.
--
--   tshark -X lua_script:xoff.lua -r run.pcapng -Y cnm -T fields -e cnm.cp_id -e cnm.feedback
--
-- Source: 802.1Q clauses 30 to 33 for CN-TAG and CNM; docs/wire.md for the others, whose layouts are
-- xoff's. The tables below are all there is to know about a header: fields, checks and the tree are
-- made from them. Protocols and fields are named as in `xoff decode -j`.

-- A field: name, label, kind, offset, octets, mask over these octets (none: all of them).
local CN_TAG = {
    name = "cn_tag", title = "Congestion Notification Tag", octets = 2, is_tag = true,
    fields = {
        {"flow", "Flow identifier", "number", 0, 2},
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
        {"about_destination", "Destination of the sampled frame", "address", 16, 6},
        {"msdu_octets", "Octets of the sampled MSDU that follow", "number", 22, 2},
    },
}

-- Kind 0 and 1 of EtherType 0x8904.
local BCN = {
    name = "bcn", title = "Backward Congestion Notification", octets = 24,
    fields = {
        {"kind", "Kind", "number", 0, 1},
        {"stop", "Stop", "flag", 1, 1, 0x01},
        {"cp_id", "Congestion point", "id", 2, 8},
        {"queue_offset", "Queue offset in 64 octets", "signed", 10, 2},
        {"queue_delta", "Queue delta in 64 octets", "signed", 12, 2},
        {"about_destination", "Destination of the sampled frame", "address", 14, 6},
        {"flow", "Flow of the sampled frame", "number", 20, 4},
    },
}
local RRT = {
    name = "rrt", title = "Rate Regulation Tag", octets = 10, is_tag = true,
    fields = {
        {"kind", "Kind", "number", 0, 1},
        {"limited", "Flow is limited", "flag", 1, 1, 0x01},
        {"cp_id", "Congestion point that limits it", "id", 2, 8},
    },
}

local RATE_TAG = {
    name = "rate_tag", title = "FECN Rate Tag", octets = 14, is_tag = true,
    fields = {
        {"version", "Version", "zero", 0, 1, 0xf0},
        {"back", "On its way back", "flag", 0, 1, 0x01},
        {"kind", "Kind", "number", 1, 1},
        {"flow", "Flow", "number", 2, 4},
        {"rate_bps", "Rate in bit/s, all ones: none yet", "number", 6, 8},
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

-- Kind of field, and number of octets: constructor of its ProtoField, and base.
local UNSIGNED = {[1] = ProtoField.uint8, [2] = ProtoField.uint16, [4] = ProtoField.uint32,
                  [8] = ProtoField.uint64}
local SIGNED = {[2] = ProtoField.int16, [4] = ProtoField.int32}
local MAKE = {
    number = function(at, label, octets, mask)
        return UNSIGNED[octets](at, label, base.DEC, nil, mask)
    end,
    id = function(at, label, octets) return UNSIGNED[octets](at, label, base.HEX) end,
    signed = function(at, label, octets) return SIGNED[octets](at, label, base.DEC) end,
    flag = function(at, label, octets, mask)
        return ProtoField.bool(at, label, 8 * octets, nil, mask)
    end,
    address = function(at, label) return ProtoField.ether(at, label) end,
}
MAKE.zero = MAKE.number

local ethertypes = DissectorTable.get("ethertype")

-- Gives the octets behind a tag to the dissector of the EtherType that follows it. Below 1536 it is
-- a length (802.3 3.2.6): a probe of FECN is a rate tag with length 0 behind it.
local function dissect_rest(tvb, at, pinfo, tree)
    if tvb:captured_len() < at + 2 then
        return
    end
    local type_or_length = tvb(at, 2):uint()
    local rest = tvb(at + 2):tvb()
    if type_or_length == 0 then
        return
    elseif type_or_length < 1536 then
        Dissector.get("llc"):call(rest, pinfo, tree)
    elseif ethertypes:try(type_or_length, rest, pinfo, tree) == 0 then
        Dissector.get("data"):call(rest, pinfo, tree)
    end
end

-- Registers what a header's table says. Returns its dissector as a function of (tvb, pinfo, tree).
local function register(header)
    local proto = Proto(header.name, header.title)
    local fields, parts = {}, {}
    for i, f in ipairs(header.fields) do
        fields[i] = MAKE[f[3]](header.name .. "." .. f[1], f[2], f[5], f[6])
    end
    local type_field = ProtoField.uint16(header.name .. ".type", "EtherType or length", base.HEX)
    local trailer = ProtoField.bytes(header.name .. ".trailer", "Padding and FCS")
    fields[#fields + 1] = header.is_tag and type_field or trailer
    proto.fields = fields
    local is_cut = ProtoExpert.new(header.name .. ".cut", "The header is cut off",
                                   expert.group.MALFORMED, expert.severity.ERROR)
    local not_zero = ProtoExpert.new(header.name .. ".not_zero", "This field should be 0",
                                     expert.group.PROTOCOL, expert.severity.WARN)
    proto.experts = {is_cut, not_zero}

    function proto.dissector(tvb, pinfo, tree)
        local n = math.min(header.octets + (header.is_tag and 2 or 0), tvb:captured_len())
        local item = tree:add(proto, tvb(0, n))
        pinfo.cols.protocol = string.upper((header.name:gsub("_", "-")))
        pinfo.cols.info = header.title
        for i, f in ipairs(header.fields) do
            if f[4] + f[5] > n then
                item:add_proto_expert_info(is_cut)
                return tvb:captured_len()
            end
            local octets = tvb(f[4], f[5])
            local line = item:add(fields[i], octets)
            if f[3] == "zero" and bit32.band(octets:uint(), f[6]) ~= 0 then
                line:add_proto_expert_info(not_zero)
            end
        end
        if not header.is_tag then
            if tvb:captured_len() > header.octets then
                item:add(trailer, tvb(header.octets))
            end
        elseif n < header.octets + 2 then
            item:add_proto_expert_info(is_cut)
        else
            item:add(type_field, tvb(header.octets, 2))
            dissect_rest(tvb, header.octets, pinfo, tree)
        end
        return tvb:captured_len()
    end
    return proto
end

ethertypes:add(0x22e9, register(CN_TAG))
ethertypes:add(0x22e7, register(CNM))
ethertypes:add(0x88b6, register(RATE_TAG))
ethertypes:add(0x88b5, register(NOTICE))

-- One EtherType for two: the first octet says which.
local message, tag = register(BCN), register(RRT)
local either = Proto("bcn_or_rrt", "Backward congestion notification or its tag")
function either.dissector(tvb, pinfo, tree)
    local is_tag = tvb:captured_len() > 0 and tvb(0, 1):uint() == 1
    return (is_tag and tag or message).dissector(tvb, pinfo, tree)
end
ethertypes:add(0x8904, either)
