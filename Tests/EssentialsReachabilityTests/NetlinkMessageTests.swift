import Glibc
import TestTools
import Testing

@testable import EssentialsReachability

private typealias Recorded = RecordedMessages

@Suite struct NetlinkMessageTests {
    private func message(_ bytes: [UInt8]) throws -> NetlinkMessage {
        let (messages, isWhole) = NetlinkMessage.read(bytes)
        #expect(isWhole)
        #expect(messages.count == 1)
        return try #require(messages.first)
    }

    @Test("A decoded message is encoded to the same bytes", arguments: RecordedMessages.all)
    func roundTrip(bytes: [UInt8]) throws {
        #expect(try message(bytes).bytes == bytes)
    }

    @Test("Recorded replies about routes are parsed")
    func routes() throws {
        let answers: [([UInt8], RouteReply)] = [
            (Recorded.routeRefused, .refused(RouteError(code: ENETUNREACH))),
            (Recorded.routeLocal, .local(interface: 1)),
            (Recorded.routeLocalIPv6, .local(interface: 1)),
            (Recorded.routeWithoutWay, .refused(RouteError(code: ENETUNREACH))),
            (Recorded.routeWithGateway, .route(interface: 3, hasGateway: true)),
            (Recorded.routeWithoutGateway, .route(interface: 3, hasGateway: false)),
            (Recorded.routeWithGatewayIPv6, .route(interface: 3, hasGateway: true)),
            (Recorded.routeWithoutGatewayIPv6, .route(interface: 3, hasGateway: false)),
            (Recorded.routeVia, .route(interface: 3, hasGateway: true)),
            (Recorded.routeUnreachable, .refused(RouteError(code: EHOSTUNREACH))),
            (Recorded.routeBlackhole, .refused(RouteError(code: EINVAL))),
            (Recorded.routeProhibit, .refused(RouteError(code: EACCES))),
            (Recorded.routeUnreachableIPv6, .refused(RouteError(code: EHOSTUNREACH))),
            (Recorded.routeBlackholeIPv6, .refused(RouteError(code: EINVAL))),
            (Recorded.routeProhibitIPv6, .refused(RouteError(code: EACCES))),
            (Recorded.routeUnderRule, .refused(RouteError(code: EACCES))),
        ]
        for (bytes, answer) in answers { #expect(try RouteReply(message(bytes)) == answer) }
    }

    @Test(
        "A route of a prohibiting type has the same error as the kernel's error message",
        arguments: [(6, EINVAL), (7, EHOSTUNREACH), (8, EACCES), (9, ENETUNREACH)] as [(UInt8, Int32)])
    func routeTypes(type: UInt8, code: Int32) throws {
        var bytes = Recorded.routeWithGateway
        bytes[16 + 7] = type
        #expect(try RouteReply(message(bytes)) == .refused(RouteError(code: code)))
    }

    @Test("Recorded replies about links are parsed")
    func links() throws {
        #expect(
            try LinkReply(message(Recorded.linkLoopback))
                == LinkReply(index: 1, name: "lo", hardwareType: 772, flags: 0x10049, state: 0, hasCarrier: true))
        #expect(
            try LinkReply(message(Recorded.linkUp))
                == LinkReply(
                    index: 3, name: "v0", hardwareType: 1, flags: 0x11043, state: 6, hasCarrier: true,
                    driverKind: "veth"))
        #expect(
            try LinkReply(message(Recorded.linkPeerDown))
                == LinkReply(
                    index: 3, name: "v0", hardwareType: 1, flags: 0x1003, state: 3, hasCarrier: false,
                    driverKind: "veth"))
        #expect(
            try LinkReply(message(Recorded.linkTunnel))
                == LinkReply(
                    index: 4, name: "t0", hardwareType: 65534, flags: 0x1091, state: 2, hasCarrier: false,
                    driverKind: "tun"))
        #expect(try LinkReply(message(Recorded.linkAbsent)) == nil)
        #expect(try message(Recorded.linkAbsent).errorCode == ENODEV)
    }

    @Test(
        "A packet can leave by a link that is up and has a carrier and an operational state of up or unknown",
        arguments: [
            (1, 6, true, true), (1, 0, true, true), (1, 6, nil, true), (0, 6, true, false), (1, 6, false, false),
            (1, 1, true, false), (1, 2, true, false), (1, 3, true, false), (1, 4, true, false), (1, 5, true, false),
        ] as [(UInt32, UInt8, Bool?, Bool)])
    func sending(flags: UInt32, state: UInt8, hasCarrier: Bool?, canSend: Bool) {
        let link = LinkReply(
            index: 2, name: "e0", hardwareType: 1, flags: flags, state: state, hasCarrier: hasCarrier)
        #expect(link.canSend == canSend)
    }

    @Test(
        "Notifications of links, addresses, routes and rules are changes",
        arguments: [
            RecordedMessages.eventLink, RecordedMessages.eventAddress, RecordedMessages.eventRoute,
            RecordedMessages.eventRule, RecordedMessages.eventRouteDeleted,
        ])
    func changes(bytes: [UInt8]) {
        #expect(KernelEvents.isChange(bytes))
        #expect(KernelEvents.isChange(Recorded.routeRefused + bytes))
    }

    @Test("Other messages are not changes, but an overrun and a malformed message are")
    func others() {
        #expect(!KernelEvents.isChange(Recorded.routeRefused))
        #expect(!KernelEvents.isChange([]))
        #expect(KernelEvents.isChange(NetlinkMessage(type: 4).bytes))
        #expect(KernelEvents.isChange(Array(Recorded.routeRefused.dropLast())))
    }

    @Test("A truncated datagram yields only its complete messages and is reported as incomplete")
    func cuts() {
        let second = NetlinkMessage(type: 3, sequence: 9)
        let datagram = Recorded.routeLocal + second.bytes
        for count in 0...datagram.count {
            let (messages, isWhole) = NetlinkMessage.read(Array(datagram.prefix(count)))
            let size = Recorded.routeLocal.count
            #expect(isWhole == [0, size, datagram.count].contains(count))
            #expect(messages.count == (count < size ? 0 : count < datagram.count ? 1 : 2))
        }
    }

    @Test("Mutated bytes are decoded without a crash to messages within their bounds")
    func tampered() {
        var numbers = SeededNumbers(state: 6)
        for _ in 0..<4000 {
            var bytes = Recorded.all.randomElement(using: &numbers) ?? []
            for _ in 0..<Int.random(in: 1...8, using: &numbers) {
                bytes[Int.random(in: bytes.indices, using: &numbers)] = UInt8.random(in: 0 ... .max, using: &numbers)
            }
            bytes = Array(bytes.prefix(Int.random(in: 0...bytes.count, using: &numbers)))
            let messages = NetlinkMessage.read(bytes).messages
            #expect(messages.reduce(0) { $0 + $1.bytes.count } <= bytes.count)
            for message in messages {
                _ = RouteReply(message)
                if let link = LinkReply(message) { #expect(link.name.utf8.count <= bytes.count * 3) }
            }
        }
    }

    @Test("Requests have the bytes that the kernel expects")
    func questions() throws {
        let address = try #require(NetworkAddress("8.8.4.4"))
        #expect(
            RouteRequest.route(to: address, sequence: 7).bytes
                == RecordedMessages.bytes(
                    "24000000 1a00 0100 07000000 00000000 02 20 00 00 00 00 00 00 00000000 0800 0100 08080404"))
        let scoped = try #require(
            NetworkAddress(bytes: [0xfe, 0x80] + [UInt8](repeating: 0, count: 13) + [1], scope: 3))
        #expect(
            RouteRequest.route(to: scoped, sequence: 8).bytes
                == RecordedMessages.bytes(
                    "38000000 1a00 0100 08000000 00000000 0a 80 00 00 00 00 00 00 00000000 "
                        + "1400 0100 fe800000000000000000000000000001 0800 0400 03000000"))
        #expect(
            RouteRequest.link(3, sequence: 9).bytes
                == RecordedMessages.bytes(
                    "28000000 1200 0100 09000000 00000000 00 00 0000 03000000 00000000 00000000 0800 1d00 08000000"))
    }

    @Test("Only a sender with port 0 is the kernel")
    func senders() {
        let kernel: [UInt8] = [16, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0]
        let process: [UInt8] = [16, 0, 0, 0, 57, 48, 0, 0, 0, 0, 0, 0]
        let judge = { NetlinkSocket.judge([1, 2, 3, 4], count: $0, sender: $1, senderSize: $2) }
        #expect(judge(2, kernel, 12) == .datagram([1, 2]))
        #expect(judge(5, kernel, 12) == .cut)
        #expect(judge(2, process, 12) == .foreign)
        #expect(judge(2, kernel, 0) == .foreign)
    }
}
