import Glibc
import TestTools
import Testing

@testable import EssentialsReachability

@Suite struct ReachabilityMachineTests {
    private static let interface = NetworkInterface(name: "eth0", index: 2, kind: .ethernet)
    private let routed = ReachabilityStatus.routed(interface)
    private let direct = ReachabilityStatus.direct(interface)
    private let down = ReachabilityStatus.unreachable(RouteError(code: ENETDOWN))
    private let first = NetworkAddress("192.0.2.1")
    private let second = NetworkAddress("2001:db8::1")

    private func literal(debounce: Duration = .zero) throws -> (ReachabilityMachine, [NetworkAddress]) {
        (ReachabilityMachine(try ReachabilityTarget("192.0.2.1"), debounce: debounce), [try #require(first)])
    }

    private func named() throws -> (ReachabilityMachine, [NetworkAddress]) {
        let addresses = [try #require(first), try #require(second)]
        return (ReachabilityMachine(try ReachabilityTarget("a.example"), debounce: .zero), addresses)
    }

    // MARK: Addresses

    @Test("An address is looked up at the start and at every change, and only changes are published")
    func address() throws {
        var (machine, addresses) = try literal()
        #expect(machine.start() == [.lookUp(addresses)])
        #expect(machine.lookedUp(routed) == [.publish(routed), .settle])
        #expect(machine.networkChanged() == [.lookUp(addresses)])
        #expect(machine.lookedUp(routed) == [])
        #expect(machine.networkChanged() == [.lookUp(addresses)])
        #expect(machine.lookedUp(down) == [.publish(down)])
        #expect(machine.lookedUp(direct) == [.publish(direct)])
        #expect(machine.lookedUp(.unknown) == [.publish(.unknown)])
        #expect(machine.refresh() == [.lookUp(addresses)])
    }

    @Test("A first status of unknown settles without being published")
    func unknown() throws {
        var (machine, _) = try literal()
        _ = machine.start()
        #expect(machine.lookedUp(.unknown) == [.settle])
        #expect(machine.lookedUp(.local) == [.publish(.local)])
    }

    @Test("After the event source fails, the status is unknown and nothing is looked up")
    func deaf() throws {
        var (machine, _) = try literal()
        _ = machine.start()
        _ = machine.lookedUp(routed)
        #expect(machine.eventsLost() == [.publish(.unknown)])
        #expect(machine.networkChanged() == [])
        #expect(machine.refresh() == [])
        #expect(machine.lookedUp(routed) == [])
    }

    // MARK: Debounce

    @Test("A change that lasts is published with its latest status, and a change from unknown immediately")
    func debounce() throws {
        var (machine, _) = try literal(debounce: .milliseconds(300))
        _ = machine.start()
        #expect(machine.lookedUp(routed) == [.publish(routed), .settle])
        #expect(machine.lookedUp(down) == [.wait(.milliseconds(300), number: 1)])
        #expect(machine.lookedUp(direct) == [])
        #expect(machine.timerEnded(1) == [.publish(direct)])
        #expect(machine.lookedUp(.unknown) == [.wait(.milliseconds(300), number: 2)])
        #expect(machine.timerEnded(2) == [.publish(.unknown)])
        #expect(machine.lookedUp(down) == [.publish(down)])
    }

    @Test("A change that is reverted in time is not published, and its timer is cancelled")
    func undone() throws {
        var (machine, _) = try literal(debounce: .seconds(1))
        _ = machine.start()
        _ = machine.lookedUp(routed)
        #expect(machine.lookedUp(down) == [.wait(.seconds(1), number: 1)])
        #expect(machine.lookedUp(routed) == [.forget(1)])
        #expect(machine.timerEnded(1) == [])
        #expect(machine.lookedUp(down) == [.wait(.seconds(1), number: 2)])
        #expect(machine.timerEnded(1) == [])
        #expect(machine.timerEnded(2) == [.publish(down)])
    }

    @Test("A negative debounce counts as zero")
    func negative() throws {
        var (machine, _) = try literal(debounce: .seconds(-1))
        _ = machine.start()
        _ = machine.lookedUp(routed)
        #expect(machine.lookedUp(down) == [.publish(down)])
    }

    @Test(
        "A debounce has a maximum, so that no clock overflows",
        arguments: [.seconds(1 << 31), .seconds(1 << 31) + .nanoseconds(1), .seconds(Int64.max)] as [Duration])
    func longest(debounce: Duration) throws {
        var (machine, _) = try literal(debounce: debounce)
        _ = machine.start()
        _ = machine.lookedUp(routed)
        #expect(machine.lookedUp(down) == [.wait(.seconds(1 << 31), number: 1)])
    }

    // MARK: Names

    @Test("A name is resolved first, and then all its addresses are looked up")
    func name() throws {
        var (machine, addresses) = try named()
        #expect(machine.start() == [.resolve("a.example", number: 1)])
        #expect(machine.resolved(1, addresses) == [.lookUp(addresses), .wait(.seconds(1), number: 2)])
        #expect(machine.lookedUp(routed) == [.publish(routed), .settle])
        #expect(machine.networkChanged() == [.lookUp(addresses)])
        #expect(machine.timerEnded(2) == [])
    }

    @Test("Only the first addresses of a name with too many are looked up")
    func limit() throws {
        var (machine, _) = try named()
        _ = machine.start()
        let many = (0..<200).compactMap { NetworkAddress(bytes: [10, 0, 0, $0]) }
        #expect(machine.resolved(1, many).first == .lookUp(Array(many.prefix(32))))
    }

    @Test(
        "A name that is not resolved is unknown instead of unreachable, and is resolved again after a change",
        arguments: [nil, []] as [[NetworkAddress]?])
    func unresolved(found: [NetworkAddress]?) throws {
        var (machine, addresses) = try named()
        _ = machine.start()
        #expect(machine.resolved(1, found) == [.settle, .wait(.seconds(1), number: 2)])
        #expect(machine.networkChanged() == [])
        #expect(machine.networkChanged() == [])
        #expect(machine.timerEnded(2) == [.resolve("a.example", number: 3)])
        #expect(machine.resolved(3, addresses) == [.lookUp(addresses), .wait(.seconds(1), number: 4)])
        #expect(machine.lookedUp(down) == [.publish(down)])
        #expect(machine.timerEnded(4) == [])
    }

    @Test("After the pause a change starts a resolution immediately")
    func afterPause() throws {
        var (machine, _) = try named()
        _ = machine.start()
        _ = machine.resolved(1, nil)
        #expect(machine.timerEnded(2) == [])
        #expect(machine.networkChanged() == [.resolve("a.example", number: 3)])
    }

    @Test("A change during the first resolution starts another one if the first fails")
    func during() throws {
        var (machine, _) = try named()
        _ = machine.start()
        #expect(machine.networkChanged() == [])
        #expect(machine.resolved(1, nil) == [.settle, .wait(.seconds(1), number: 2)])
        #expect(machine.timerEnded(2) == [.resolve("a.example", number: 3)])
    }

    @Test("A name is resolved again when a route becomes available")
    func again() throws {
        var (machine, addresses) = try named()
        _ = machine.start()
        _ = machine.resolved(1, addresses)
        _ = machine.timerEnded(2)
        #expect(machine.lookedUp(down) == [.publish(down), .settle])
        #expect(machine.lookedUp(.unknown) == [.publish(.unknown)])
        #expect(machine.lookedUp(down) == [.publish(down)])
        #expect(machine.lookedUp(routed) == [.publish(routed), .resolve("a.example", number: 3)])
        #expect(machine.lookedUp(direct) == [.publish(direct)])
        let moved = [try #require(second)]
        #expect(machine.resolved(3, moved) == [.lookUp(moved), .wait(.seconds(1), number: 4)])
        #expect(machine.networkChanged() == [.lookUp(moved)])
    }

    @Test("A later resolution that fails keeps the known addresses and is repeated at the next change")
    func kept() throws {
        var (machine, addresses) = try named()
        _ = machine.start()
        _ = machine.resolved(1, addresses)
        _ = machine.timerEnded(2)
        _ = machine.lookedUp(routed)
        #expect(machine.refresh() == [.lookUp(addresses), .resolve("a.example", number: 3)])
        #expect(machine.resolved(3, nil) == [.wait(.seconds(1), number: 4)])
        #expect(machine.networkChanged() == [.lookUp(addresses)])
        #expect(machine.timerEnded(4) == [.resolve("a.example", number: 5)])
        #expect(machine.resolved(5, addresses) == [.lookUp(addresses), .wait(.seconds(1), number: 6)])
        #expect(machine.networkChanged() == [.lookUp(addresses)])
        #expect(machine.timerEnded(6) == [])
    }

    @Test("The result of an outdated resolution is ignored")
    func stale() throws {
        var (machine, addresses) = try named()
        _ = machine.start()
        #expect(machine.resolved(7, addresses) == [])
        _ = machine.resolved(1, nil)
        #expect(machine.resolved(1, addresses) == [])
    }

    @Test("Any sequence of events has at most one resolution and two timers pending")
    func bounded() throws {
        var numbers = SeededNumbers(state: 11)
        let statuses = [routed, direct, down, .unknown, .local]
        for _ in 0..<200 {
            var machine = ReachabilityMachine(try ReachabilityTarget("a.example"), debounce: .seconds(2))
            var resolutions: Set<UInt64> = []
            var timers: Set<UInt64> = []
            var published: [ReachabilityStatus] = [.unknown]
            var due = machine.start()
            for _ in 0..<200 {
                for action in due {
                    switch action {
                    case .resolve(_, let number): resolutions.insert(number)
                    case .wait(_, let number): timers.insert(number)
                    case .forget(let number): #expect(timers.remove(number) != nil)
                    case .publish(let status): published.append(status)
                    case .lookUp, .settle: break
                    }
                }
                #expect(resolutions.count <= 1 && timers.count <= 2)
                switch Int.random(in: 0...5, using: &numbers) {
                case 0: due = machine.networkChanged()
                case 1: due = machine.refresh()
                case 2:
                    let addresses = Bool.random(using: &numbers) ? [try #require(first)] : nil
                    due = resolutions.popFirst().map { machine.resolved($0, addresses) } ?? []
                case 3: due = timers.popFirst().map { machine.timerEnded($0) } ?? []
                default: due = machine.lookedUp(statuses.randomElement(using: &numbers) ?? .unknown)
                }
            }
            #expect(zip(published, published.dropFirst()).allSatisfy { $0 != $1 })
        }
    }
}
