import EssentialsHTTP
import EssentialsTestKit
import Testing

@testable import EssentialsCurl

@Suite("A request's priority in the transport's queue")
struct QueuePriorityTests {
    private func machine(perOrigin: Int, total: Int = 100) -> AdmissionMachine<Int> {
        AdmissionMachine(
            limits: AdmissionLimits(perOrigin: perOrigin, perConnection: 10, total: total, queue: 100_000))
    }

    private func origin(_ name: String) throws -> Origin { Origin(scheme: .https, host: try HostName(name)) }

    @Test("More urgent requests leave the queue first, and equally urgent ones in their order")
    func order() throws {
        var machine = machine(perOrigin: 1)
        let lane = machine.lane(for: try origin("a.test"))
        #expect(machine.arrive(0, lane: lane, priority: .background) == .start)
        let priorities: [RequestPriority] = [
            .normal, .background, .high, .low, .interactive, .normal, .high, .background, .interactive, .low,
        ]
        for (index, priority) in priorities.enumerated() {
            #expect(machine.arrive(index + 1, lane: lane, priority: priority) == .wait)
        }
        #expect(machine.waitingTickets == [5, 9, 3, 7, 1, 6, 4, 10, 2, 8])
        var started: [Int] = []
        for _ in priorities {
            machine.leave(lane: lane)
            while let ticket = machine.next() { started.append(ticket) }
        }
        #expect(started == [5, 9, 3, 7, 1, 6, 4, 10, 2, 8])
        #expect(machine.waiting == 0 && machine.storedCount == 0)
    }

    @Test("Priorities do not change the turns that origins take")
    func turns() throws {
        var machine = machine(perOrigin: 10, total: 1)
        let (first, second) = (machine.lane(for: try origin("a.test")), machine.lane(for: try origin("b.test")))
        #expect(machine.arrive(0, lane: first) == .start)
        for ticket in 1...3 { #expect(machine.arrive(ticket, lane: first, priority: .interactive) == .wait) }
        for ticket in 11...13 { #expect(machine.arrive(ticket, lane: second, priority: .background) == .wait) }
        var started: [Int] = []
        for _ in 0..<6 {
            machine.leave(lane: (started.last ?? 0) < 10 ? first : second)
            while let ticket = machine.next() { started.append(ticket) }
        }
        #expect(started == [1, 11, 2, 12, 3, 13])
    }

    @Test("Withdrawn requests of any priority are skipped and not kept")
    func withdrawn() throws {
        var machine = machine(perOrigin: 1)
        let lane = machine.lane(for: try origin("a.test"))
        _ = machine.arrive(0, lane: lane)
        for ticket in 1...10_000 {
            let priority = RequestPriority.allCases[ticket % 5]
            #expect(machine.arrive(ticket, lane: lane, priority: priority) == .wait)
            if ticket > 5 { machine.withdraw(ticket, lane: lane) }
        }
        #expect(machine.storedCount <= 64)
        machine.withdraw(4, lane: lane)
        var started: [Int] = []
        for _ in 0..<5 {
            machine.leave(lane: lane)
            if let ticket = machine.next() { started.append(ticket) } else { break }
        }
        #expect(started == [3, 2, 1, 5])
    }

    @Test("The priority decides which request is sent next")
    func network() async throws {
        let gate = LoopbackGate()
        let server = try LoopbackServer { _ in
            gate.wait(timeout: .seconds(60))
            return .response(body: "ok")
        }
        var configuration = CurlTransport.Configuration()
        configuration.connectionsPerOrigin = 1
        let transport = try CurlTransport(configuration: configuration)
        let names = ["first", "background", "normal", "interactive", "high", "low"]
        try await withThrowingTaskGroup(of: Void.self) { group in
            for (count, name) in names.enumerated() {
                var request = TransportRequest(.get, try RequestURL(server.url + "/" + name))
                if let priority = RequestPriority.allCases.first(where: { "\($0)" == name }) {
                    request.options.priority = priority
                }
                group.addTask { [request] in _ = try await transport.send(request) }
                // In this order, so that the order of arrival alone would give another one.
                while await transport.load.waiting + transport.load.inFlight <= count { await Task.yield() }
            }
            gate.open()
            try await group.waitForAll()
        }
        #expect(
            server.requests.map(\.path)
                == ["first", "interactive", "high", "normal", "low", "background"].map { "/" + $0 })
        await transport.shutdown()
    }
}
