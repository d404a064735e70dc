import Glibc
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

    @Test("A message is written as it was read", arguments: RecordedMessages.all)
    func roundTrip(bytes: [UInt8]) throws {
        #expect(try message(bytes).bytes == bytes)
    }

    @Test("Recorded answers about routes are read as what they say")
    func routes() throws {
        let answers: [([UInt8], RouteAnswer)] = [
            (Recorded.routeRefused, .refused(RouteError(code: ENETUNREACH))),
            (Recorded.routeLocal, .local(interface: 1)),
            (Recorded.routeLocalIPv6, .local(interface: 1)),
            (Recorded.routeWithoutWay, .refused(RouteError(code: ENETUNREACH))),
            (Recorded.routeWithGateway, .way(interface: 3, hasGateway: true)),
            (Recorded.routeWithoutGateway, .way(interface: 3, hasGateway: false)),
            (Recorded.routeWithGatewayIPv6, .way(interface: 3, hasGateway: true)),
            (Recorded.routeWithoutGatewayIPv6, .way(interface: 3, hasGateway: false)),
            (Recorded.routeVia, .way(interface: 3, hasGateway: true)),
            (Recorded.routeUnreachable, .refused(RouteError(code: EHOSTUNREACH))),
            (Recorded.routeBlackhole, .refused(RouteError(code: EINVAL))),
            (Recorded.routeProhibit, .refused(RouteError(code: EACCES))),
            (Recorded.routeUnreachableIPv6, .refused(RouteError(code: EHOSTUNREACH))),
            (Recorded.routeBlackholeIPv6, .refused(RouteError(code: EINVAL))),
            (Recorded.routeProhibitIPv6, .refused(RouteError(code: EACCES))),
            (Recorded.routeUnderRule, .refused(RouteError(code: EACCES))),
        ]
        for (bytes, answer) in answers { #expect(try RouteAnswer(message(bytes)) == answer) }
    }

    @Test(
        "A route whose type forbids the way is the error that the kernel gives for it",
        arguments: [(6, EINVAL), (7, EHOSTUNREACH), (8, EACCES), (9, ENETUNREACH)] as [(UInt8, Int32)])
    func routeTypes(type: UInt8, code: Int32) throws {
        var bytes = Recorded.routeWithGateway
        bytes[16 + 7] = type
        #expect(try RouteAnswer(message(bytes)) == .refused(RouteError(code: code)))
    }

    @Test("Recorded answers about links are read as what they say")
    func links() throws {
        #expect(
            try LinkAnswer(message(Recorded.linkLoopback))
                == LinkAnswer(index: 1, name: "lo", hardwareType: 772, flags: 0x10049, state: 0, hasCarrier: true))
        #expect(
            try LinkAnswer(message(Recorded.linkUp))
                == LinkAnswer(
                    index: 3, name: "v0", hardwareType: 1, flags: 0x11043, state: 6, hasCarrier: true,
                    driverKind: "veth"))
        #expect(
            try LinkAnswer(message(Recorded.linkPeerDown))
                == LinkAnswer(
                    index: 3, name: "v0", hardwareType: 1, flags: 0x1003, state: 3, hasCarrier: false,
                    driverKind: "veth"))
        #expect(
            try LinkAnswer(message(Recorded.linkTunnel))
                == LinkAnswer(
                    index: 4, name: "t0", hardwareType: 65534, flags: 0x1091, state: 2, hasCarrier: false,
                    driverKind: "tun"))
        #expect(try LinkAnswer(message(Recorded.linkAbsent)) == nil)
        #expect(try message(Recorded.linkAbsent).errorCode == ENODEV)
    }

    @Test(
        "A packet can leave by a link that is up, with a carrier and a state that is up or unknown",
        arguments: [
            (1, 6, true, true), (1, 0, true, true), (1, 6, nil, true), (0, 6, true, false), (1, 6, false, false),
            (1, 1, true, false), (1, 2, true, false), (1, 3, true, false), (1, 4, true, false), (1, 5, true, false),
        ] as [(UInt32, UInt8, Bool?, Bool)])
    func sending(flags: UInt32, state: UInt8, hasCarrier: Bool?, canSend: Bool) {
        let link = LinkAnswer(
            index: 2, name: "e0", hardwareType: 1, flags: flags, state: state, hasCarrier: hasCarrier)
        #expect(link.canSend == canSend)
    }

    @Test(
        "Announcements of links, addresses, routes and rules are changes",
        arguments: [
            RecordedMessages.eventLink, RecordedMessages.eventAddress, RecordedMessages.eventRoute,
            RecordedMessages.eventRule, RecordedMessages.eventRouteDeleted,
        ])
    func changes(bytes: [UInt8]) {
        #expect(KernelEvents.isChange(bytes))
        #expect(KernelEvents.isChange(Recorded.routeRefused + bytes))
    }

    @Test("Other messages are no change, but an overrun and what cannot be read are one")
    func others() {
        #expect(!KernelEvents.isChange(Recorded.routeRefused))
        #expect(!KernelEvents.isChange([]))
        #expect(KernelEvents.isChange(NetlinkMessage(type: 4).bytes))
        #expect(KernelEvents.isChange(Array(Recorded.routeRefused.dropLast())))
    }

    @Test("A datagram that is cut anywhere gives its whole messages only, and says that it is cut")
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

    @Test("Bytes that were tampered with are read without harm, to messages that fit into them")
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
                _ = RouteAnswer(message)
                if let link = LinkAnswer(message) { #expect(link.name.utf8.count <= bytes.count * 3) }
            }
        }
    }

    @Test("Questions have the bytes that the kernel expects")
    func questions() throws {
        let address = try #require(NetworkAddress("8.8.4.4"))
        #expect(
            RouteQuestion.route(to: address, sequence: 7).bytes
                == RecordedMessages.bytes(
                    "24000000 1a00 0100 07000000 00000000 02 20 00 00 00 00 00 00 00000000 0800 0100 08080404"))
        let scoped = try #require(
            NetworkAddress(bytes: [0xfe, 0x80] + [UInt8](repeating: 0, count: 13) + [1], scope: 3))
        #expect(
            RouteQuestion.route(to: scoped, sequence: 8).bytes
                == RecordedMessages.bytes(
                    "38000000 1a00 0100 08000000 00000000 0a 80 00 00 00 00 00 00 00000000 "
                        + "1400 0100 fe800000000000000000000000000001 0800 0400 03000000"))
        #expect(
            RouteQuestion.link(3, sequence: 9).bytes
                == RecordedMessages.bytes(
                    "28000000 1200 0100 09000000 00000000 00 00 0000 03000000 00000000 00000000 0800 1d00 08000000"))
    }

    @Test("Only a sender without a port is the kernel")
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
