import EssentialsHTTP

@testable import EssentialsRequests

/// Participants who use one machine in any order of events, with the rules that must hold after each event.
struct TokenMachineModel: Hashable {
    /// What a participant does.
    enum Phase: Hashable {
        case idle
        case waiting
        /// An attempt with a token of this generation is running.
        case sent(generation: Int)
        case ended
    }

    enum Event: Hashable {
        case arrives(Int)
        case accepted(Int)
        case refused(Int)
        case cancelled(Int)
        case returnsToken, returnsFailure, returnsRejection, isOverdue
        case logsOut, logsIn, timePasses
    }

    private struct Participant: Hashable {
        var phase = Phase.idle
        var wasSentAgain = false
        var session = 0
    }

    private(set) var machine = TokenMachine()
    private var participants: [Participant]
    private var now = Duration.zero
    private var session = 1
    private var isLoggedIn = true
    private var refresh: Int?
    private var isDropped = false
    private var tokens = 0
    private var generation = 0
    /// The generation of the token that the machine holds.
    private var present: Int?
    /// The generations whose refusal has started a refresh.
    private var replaced: Set<Int> = []
    private var logouts = 1
    private var logins = 1
    private var waits = 1
    private var rejections = 1
    private var overdues = 1

    init(participants count: Int) {
        participants = Array(repeating: Participant(), count: count)
        machine.attach(1)
    }

    var isOver: Bool { refresh == nil && participants.allSatisfy { $0.phase == .ended } }

    /// All events that can happen now.
    var events: [Event] {
        var events: [Event] = []
        for (index, participant) in participants.enumerated() {
            switch participant.phase {
            // Participants are alike until they arrive, so one order of arrival stands for all.
            case .idle: if index == 0 || participants[index - 1].phase != .idle { events.append(.arrives(index)) }
            case .waiting: events.append(.cancelled(index))
            case .sent: events += [.accepted(index), .refused(index)]
            case .ended: break
            }
        }
        if refresh != nil {
            events += [.returnsToken, .returnsFailure]
            if rejections > 0 { events.append(.returnsRejection) }
            if overdues > 0 { events.append(.isOverdue) }
        }
        if isLoggedIn, logouts > 0 { events.append(.logsOut) }
        if !isLoggedIn, logins > 0 { events.append(.logsIn) }
        if waits > 0 { events.append(.timePasses) }
        return events
    }

    /// Lets an event happen.
    ///
    /// - Returns: The rules that were broken.
    mutating func happen(_ event: Event) throws -> [String] {
        var faults: [String] = []
        switch event {
        case .arrives(let index):
            participants[index].session = session
            ask(index, &faults)
        case .accepted(let index):
            guard case .sent(let generation) = participants[index].phase else { break }
            machine.accepted(generation)
            participants[index].phase = .ended
        case .refused(let index): refused(index, &faults)
        case .cancelled(let index):
            if !machine.left(index) { faults.append("A waiter was not known.") }
            participants[index].phase = .ended
        case .returnsToken:
            tokens += 1
            if !isDropped {
                generation += 1
                present = generation
            }
            try returns(.token(AccessToken("t\(tokens)")), &faults)
        case .returnsFailure: try returns(.failed, &faults)
        case .returnsRejection:
            rejections -= 1
            if !isDropped { present = nil }
            try returns(.rejected, &faults)
        case .isOverdue:
            overdues -= 1
            carryOut(machine.overdue(refresh ?? 0, at: now), &faults)
        case .logsOut:
            logouts -= 1
            isLoggedIn = false
            present = nil
            isDropped = refresh != nil
            carryOut(machine.end(session), &faults)
        case .logsIn:
            logins -= 1
            isLoggedIn = true
            session += 1
            machine.attach(session)
        case .timePasses:
            waits -= 1
            now += .seconds(40)
        }
        check(&faults)
        return faults
    }

    private mutating func ask(_ index: Int, _ faults: inout [String]) {
        let (decision, actions) = machine.request(from: participants[index].session, waiter: index, at: now)
        switch decision {
        case .use(let lease): send(index, lease, &faults)
        case .wait: participants[index].phase = .waiting
        case .fail: participants[index].phase = .ended
        }
        carryOut(actions, &faults)
    }

    private mutating func send(_ index: Int, _ lease: TokenMachine.Lease, _ faults: inout [String]) {
        if replaced.contains(lease.generation) { faults.append("A refused token was sent again.") }
        if participants[index].session != session || !isLoggedIn { faults.append("A token went out after the logout.") }
        participants[index].phase = .sent(generation: lease.generation)
    }

    private mutating func refused(_ index: Int, _ faults: inout [String]) {
        guard case .sent(let generation) = participants[index].phase else { return }
        let attempt: TokenMachine.Attempt = participants[index].wasSentAgain ? .last : .repeatable
        let (verdict, actions) = machine.refused(generation, in: participants[index].session, attempt, at: now)
        if actions.contains(where: { if case .start = $0 { true } else { false } }) {
            // A refresh that failed may be repeated, but not once its token has arrived.
            if let present, present > generation, !replaced.contains(present) {
                faults.append("A refusal of an older token started a refresh.")
            }
            replaced.insert(generation)
        }
        carryOut(actions, &faults)
        switch verdict {
        case .again:
            if participants[index].wasSentAgain { faults.append("A request was sent three times.") }
            participants[index].wasSentAgain = true
            ask(index, &faults)
        case .handBack, .fail: participants[index].phase = .ended
        }
    }

    private mutating func returns(_ outcome: TokenMachine.Outcome, _ faults: inout [String]) throws {
        let number = refresh ?? 0
        refresh = nil
        isDropped = false
        carryOut(machine.finished(number, outcome, at: now), &faults)
    }

    private mutating func carryOut(_ actions: [TokenMachine.Action], _ faults: inout [String]) {
        for action in actions {
            switch action {
            case .start(let number, _):
                if refresh != nil { faults.append("Two refreshes ran at the same time.") }
                if !isLoggedIn { faults.append("A refresh started after the logout.") }
                refresh = number
            case .cancel(let number):
                if refresh != number { faults.append("A refresh was cancelled that does not run.") }
            case .resume(let waiters, let lease):
                for waiter in waiters { leave(waiter, &faults) { model, faults in model.send(waiter, lease, &faults) } }
            case .fail(let waiters, _):
                for waiter in waiters {
                    leave(waiter, &faults) { model, _ in model.participants[waiter].phase = .ended }
                }
            }
        }
    }

    private mutating func leave(
        _ waiter: Int, _ faults: inout [String], _ then: (inout TokenMachineModel, inout [String]) -> Void
    ) {
        guard participants.indices.contains(waiter), participants[waiter].phase == .waiting else {
            faults.append("A request was resumed that did not wait.")
            return
        }
        then(&self, &faults)
    }

    private func check(_ faults: inout [String]) {
        let waiting = participants.filter { $0.phase == .waiting }.count
        if machine.waiterCount != waiting { faults.append("\(machine.waiterCount) waiters instead of \(waiting).") }
        if machine.isRefreshing != (refresh != nil) { faults.append("The machine does not know what runs.") }
        if waiting > 0, refresh == nil { faults.append("A request waits for nothing.") }
    }
}
