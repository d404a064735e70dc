import EssentialsHTTP
import EssentialsTestKit
import TestTools
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

    @Test("A raised request leaves the queue after those of its new priority, and is returned once")
    func raised() throws {
        var machine = machine(perOrigin: 1)
        let lane = machine.lane(for: try origin("a.test"))
        #expect(machine.arrive(0, lane: lane) == .start)
        for (ticket, priority) in [(1, RequestPriority.low), (2, .background), (3, .high), (4, .normal)] {
            #expect(machine.arrive(ticket, lane: lane, priority: priority) == .wait)
        }
        machine.raise(2, lane: lane, to: .normal)
        machine.raise(2, lane: lane, to: .high)
        machine.raise(1, lane: lane, to: .normal)
        #expect(machine.waiting == 4)
        #expect(machine.waitingTickets == [3, 2, 4, 1])
        #expect(started(&machine, lane: lane) == [3, 2, 4, 1])
        #expect(machine.waiting == 0 && machine.storedCount == 0)
    }

    @Test("A raised request that is withdrawn is never returned, and the queue keeps no entry of it")
    func raisedAndWithdrawn() throws {
        var machine = machine(perOrigin: 1)
        let lane = machine.lane(for: try origin("a.test"))
        #expect(machine.arrive(0, lane: lane) == .start)
        for ticket in 1...3 { _ = machine.arrive(ticket, lane: lane, priority: .low) }
        machine.raise(2, lane: lane, to: .normal)
        machine.raise(2, lane: lane, to: .interactive)
        machine.withdraw(2, lane: lane)
        #expect(machine.waitingTickets == [1, 3])
        #expect(started(&machine, lane: lane) == [1, 3])
        #expect(machine.storedCount == 0)
    }

    @Test("Each request leaves the queue once, by its highest priority and then its place there", arguments: 0..<10)
    func randomRaises(seed: UInt64) throws {
        var random = SeededNumbers(state: seed)
        var machine = machine(perOrigin: 1)
        let lane = machine.lane(for: try origin("a.test"))
        _ = machine.arrive(0, lane: lane)
        /// The queues by priority, as a simple model.
        var model: [RequestPriority: [Int]] = [:]
        var last = 0
        for _ in 0..<400 {
            let priority = RequestPriority.allCases[Int.random(in: 0..<5, using: &random)]
            let waiting = model.flatMap { key, tickets in tickets.map { (key, $0) } }.sorted { $0.1 < $1.1 }
            switch Int.random(in: 0..<10, using: &random) {
            case 0..<4:
                last += 1
                #expect(machine.arrive(last, lane: lane, priority: priority) == .wait)
                model[priority, default: []].append(last)
            case 4..<7:
                guard let (present, ticket) = waiting.randomElement(using: &random), present < priority else {
                    continue
                }
                machine.raise(ticket, lane: lane, to: priority)
                model[present]?.removeAll { $0 == ticket }
                model[priority, default: []].append(ticket)
            case 7:
                guard let (present, ticket) = waiting.randomElement(using: &random) else { continue }
                machine.withdraw(ticket, lane: lane)
                model[present]?.removeAll { $0 == ticket }
            default:
                guard !waiting.isEmpty else { continue }
                let highest = RequestPriority.allCases.last { model[$0]?.isEmpty == false }
                machine.leave(lane: lane)
                #expect(machine.next() == highest.flatMap { model[$0]?.removeFirst() }, "seed \(seed)")
            }
            let expected = RequestPriority.allCases.reversed().flatMap { model[$0] ?? [] }
            #expect(machine.waitingTickets == expected, "seed \(seed)")
            #expect(machine.waiting == expected.count, "seed \(seed)")
            #expect(machine.storedCount <= 2 * expected.count + 32, "seed \(seed)")
        }
        #expect(started(&machine, lane: lane) == RequestPriority.allCases.reversed().flatMap { model[$0] ?? [] })
        #expect(machine.storedCount == 0)
    }

    /// All requests that the machine returns as one after the other ends.
    private func started(_ machine: inout AdmissionMachine<Int>, lane: Int) -> [Int] {
        var started: [Int] = []
        while machine.waiting > 0 {
            machine.leave(lane: lane)
            guard let ticket = machine.next() else { break }
            started.append(ticket)
        }
        return started
    }

    @Test("A waiting request with a raised priority is sent before the others, and a running one is not affected")
    func raisedOverNetwork() async throws {
        let gate = LoopbackGate()
        let server = try LoopbackServer { _ in
            gate.wait(timeout: .seconds(60))
            return .response(body: "ok")
        }
        var configuration = CurlTransport.Configuration()
        configuration.connectionsPerOrigin = 1
        let transport = try CurlTransport(configuration: configuration)
        let names = ["first", "a", "b", "c", "d"]
        let priorities = names.map { _ in RaisablePriority() }
        // Raised before the request is sent.
        priorities[4].raise(to: .high)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for (count, name) in names.enumerated() {
                var request = TransportRequest(.get, try RequestURL(server.url + "/" + name))
                request.options.priority = .low
                request.raisablePriority = priorities[count]
                group.addTask { [request] in _ = try await transport.send(request) }
                while await transport.load.waiting + transport.load.inFlight <= count { await Task.yield() }
            }
            priorities[0].raise(to: .interactive)
            priorities[3].raise(to: .normal)
            priorities[2].raise(to: .background)
            priorities[3].raise(to: .interactive)
            // The engine reads its messages in order, so it has then read these.
            #expect(await transport.load.waiting == 4)
            gate.open()
            try await group.waitForAll()
        }
        #expect(server.requests.map(\.path) == ["/first", "/c", "/d", "/a", "/b"])
        #expect(priorities.allSatisfy { $0.handlerCount == 0 })
        for priority in priorities { priority.raise(to: .interactive) }
        await transport.shutdown()
    }

    @Test("A raised request that is cancelled in the queue is not sent")
    func raisedAndCancelled() async throws {
        let gate = LoopbackGate()
        let server = try LoopbackServer { _ in
            gate.wait(timeout: .seconds(60))
            return .response(body: "ok")
        }
        var configuration = CurlTransport.Configuration()
        configuration.connectionsPerOrigin = 1
        let transport = try CurlTransport(configuration: configuration)
        async let first = transport.send(request(server, "/first"))
        while await transport.load.inFlight == 0 { await Task.yield() }
        let priority = RaisablePriority()
        var second = try request(server, "/second")
        second.raisablePriority = priority
        let sent = Task { [second] in await failure { try await transport.send(second) } }
        while await transport.load.waiting == 0 { await Task.yield() }
        priority.raise(to: .interactive)
        sent.cancel()
        #expect(await sent.value?.reason == .cancelled)
        gate.open()
        _ = try await first
        #expect(server.requests.map(\.path) == ["/first"])
        let load = await transport.load
        #expect(load.inFlight == 0 && load.waiting == 0 && load.origins.allSatisfy { $0.active + $0.waiting == 0 })
        await transport.shutdown()
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
                // This order ensures that the order of arrival alone would give another result.
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
