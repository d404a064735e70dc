import EssentialsHTTP
import Testing

@testable import EssentialsCurl

@Suite("Admission")
struct AdmissionMachineTests {
    private func machine(
        perOrigin: Int = 2, perConnection: Int = 10, total: Int = 100, queue: Int = 100
    ) -> AdmissionMachine<Int> {
        AdmissionMachine(
            limits: AdmissionLimits(perOrigin: perOrigin, perConnection: perConnection, total: total, queue: queue))
    }

    private func origin(_ name: String) throws -> Origin { Origin(scheme: .https, host: try HostName(name)) }

    @Test("An origin starts at most its limit of requests, and the others wait in their order")
    func order() throws {
        var machine = machine()
        let lane = machine.lane(for: try origin("a.test"))
        #expect((0..<5).map { machine.arrive($0, lane: lane) } == [.start, .start, .wait, .wait, .wait])
        #expect(machine.next() == nil)
        #expect(machine.active == 2 && machine.waiting == 3)
        machine.leave(lane: lane)
        #expect(machine.next() == 2)
        #expect(machine.next() == nil)
        machine.leave(lane: lane)
        machine.leave(lane: lane)
        #expect(machine.next() == 3)
        #expect(machine.next() == 4)
        #expect(machine.next() == nil)
        #expect(machine.waiting == 0)
    }

    @Test("A request to one origin does not wait for connections to another")
    func lanes() throws {
        var machine = machine()
        let (first, second) = (machine.lane(for: try origin("a.test")), machine.lane(for: try origin("b.test")))
        for ticket in 0..<4 { _ = machine.arrive(ticket, lane: first) }
        #expect(machine.arrive(10, lane: second) == .start)
    }

    @Test("Origins take turns once the total limit is reached")
    func turns() throws {
        var machine = machine(perOrigin: 10, total: 2)
        let (first, second) = (machine.lane(for: try origin("a.test")), machine.lane(for: try origin("b.test")))
        for ticket in 0..<6 { _ = machine.arrive(ticket, lane: first) }
        for ticket in 10..<13 { #expect(machine.arrive(ticket, lane: second) == .wait) }
        var started: [Int] = []
        for _ in 0..<7 {
            machine.leave(lane: (started.last ?? 0) < 10 ? first : second)
            while let ticket = machine.next() { started.append(ticket) }
        }
        #expect(started == [2, 10, 3, 11, 4, 12, 5])
        #expect(machine.active == 2 && machine.waiting == 0)
    }

    @Test(
        "The time for which a server keeps idle connections limits those of its origin, while the server announces it",
        arguments: [(0, nil), (1, 1), (2, 1), (3, 1), (5, 3), (60, 58)] as [(Int, Int?)])
    func keepAlive(announced: Int, expected: Int?) throws {
        var machine = machine()
        let (lane, other) = (machine.lane(for: try origin("a.test")), machine.lane(for: try origin("b.test")))
        machine.learn(keepAliveSeconds: announced, lane: lane)
        #expect(machine.idleSeconds(lane: lane) == expected)
        #expect(machine.idleSeconds(lane: other) == nil)
        machine.learn(keepAliveSeconds: 0, lane: lane)
        #expect(machine.idleSeconds(lane: lane) == nil)
    }

    @Test("A full queue refuses a request, and accepts one again once it has room")
    func full() throws {
        var machine = machine(perOrigin: 1, queue: 2)
        let lane = machine.lane(for: try origin("a.test"))
        #expect((0..<4).map { machine.arrive($0, lane: lane) } == [.start, .wait, .wait, .full])
        machine.withdraw(1, lane: lane)
        #expect(machine.arrive(4, lane: lane) == .wait)
        #expect(machine.arrive(5, lane: lane) == .full)
    }

    @Test("Withdrawn requests are skipped")
    func withdrawn() throws {
        var machine = machine(perOrigin: 1)
        let lane = machine.lane(for: try origin("a.test"))
        for ticket in 0..<5 { _ = machine.arrive(ticket, lane: lane) }
        machine.withdraw(1, lane: lane)
        machine.withdraw(3, lane: lane)
        #expect(Set(machine.waitingTickets) == [2, 4])
        machine.leave(lane: lane)
        #expect(machine.next() == 2)
        machine.leave(lane: lane)
        #expect(machine.next() == 4)
        machine.leave(lane: lane)
        #expect(machine.next() == nil)
        #expect(machine.active == 0)
    }

    @Test("A blocked queue does not keep withdrawn requests")
    func sweeps() throws {
        var machine = machine(perOrigin: 1)
        let lane = machine.lane(for: try origin("a.test"))
        _ = machine.arrive(0, lane: lane)
        for ticket in 1...10_000 {
            #expect(machine.arrive(ticket, lane: lane) == .wait)
            machine.withdraw(ticket, lane: lane)
        }
        #expect(machine.storedCount <= 64)
    }

    @Test("An origin that shares connections can have as many requests as they carry")
    func sharing() throws {
        var machine = machine(perOrigin: 2, perConnection: 3)
        let lane = machine.lane(for: try origin("a.test"))
        for ticket in 0..<8 { _ = machine.arrive(ticket, lane: lane) }
        machine.learn(.shares, lane: lane)
        var started: [Int] = []
        while let ticket = machine.next() { started.append(ticket) }
        #expect(started == [2, 3, 4, 5])
        #expect(machine.waiting == 2)
    }

    @Test("Idle origins over the maximum are forgotten, and busy ones are kept")
    func forgets() throws {
        var machine = machine()
        let busy = machine.lane(for: try origin("busy.test"))
        #expect(machine.arrive(1, lane: busy) == .start)
        for number in 0..<3_000 {
            let lane = machine.lane(for: try origin("host\(number).test"))
            #expect(machine.arrive(2, lane: lane) == .start)
            machine.leave(lane: lane)
        }
        #expect(machine.lane(for: try origin("busy.test")) == busy)
        #expect(machine.laneCount <= 1_025)
    }

    @Test("Limits whose product overflows do not limit anything")
    func overflow() throws {
        var machine = machine(perOrigin: .max, perConnection: .max, total: .max)
        let lane = machine.lane(for: try origin("a.test"))
        machine.learn(.shares, lane: lane)
        #expect(machine.arrive(1, lane: lane) == .start)
    }
}
