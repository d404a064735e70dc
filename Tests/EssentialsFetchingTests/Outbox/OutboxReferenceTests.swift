import EssentialsHTTP
import FoundationEssentials
import TestTools
import Testing

@testable import EssentialsFetching
@testable import EssentialsRequests

/// Compares the machine with a model that looks at all entries at each step.
@Suite("Outbox: random sequences")
struct OutboxReferenceTests {
    @Test("Random sequences of events lead to the states of a slow model", arguments: 1...10 as ClosedRange<UInt64>)
    func random(seed: UInt64) async {
        for round in 0..<1_000 {
            let number = seed &* 1_000_003 &+ UInt64(round)
            var run = OutboxModelRun(seed: number)
            run.perform(round % 100 == 0 ? 400 : 25)
            // Other tests share the threads.
            await Task.yield()
            if let problem = run.problem {
                Issue.record("seed \(number): \(problem)\n\(run.history.joined(separator: "\n"))")
                return
            }
        }
    }
}

/// The facts that the model knows about an entry.
struct OutboxModelEntry {
    enum Phase: Equatable {
        case storing, waiting, sending, removingSent, settingAside, failed, restoring, reviving
        case delayed(until: Duration, OutboxMachine.DelayCause)
        indirect case removingDropped(Phase)
    }

    var entry: OutboxEntry
    var phase: Phase
    /// When its age was zero.
    var start: Duration
    /// Whether it was added before the current start of the machine, so that the wall clock decides too.
    var isDated = false
    /// Whether it was given up because of its age.
    var isAgedOut = false
    var attempts = 0
    var delays = 0
    /// Whether it is settled only after it was sent, so that its lane waits.
    var blocks = false

    var lane: OutboxMachine.Lane { OutboxMachine.Lane(entry) }
}

/// One random sequence.
struct OutboxModelRun {
    private(set) var problem: String?
    private(set) var history: [String] = []
    private var machine: OutboxMachine
    private var model: [OutboxEntry.ID: OutboxModelEntry] = [:]
    private var partition: EntityPartition? = "p0"
    private var environment = OutboxModelRun.environment(0, 0)
    private var isPaused = false
    private var numbers: SeededNumbers
    private var moment = OutboxMachine.Moment(
        now: .zero, date: Date(timeIntervalSinceReferenceDate: 0), bootTime: BootTime(boot: "0", elapsed: .zero),
        fraction: 1)
    private var reboots = 0
    private let maximumAge = Duration.seconds(60)
    private let limits: Outbox.Limits
    /// Whether the event expires everything that is too old.
    private var expiresAll = false
    private var mayFail: OutboxEntry.ID?

    init(seed: UInt64) {
        numbers = SeededNumbers(state: seed)
        var configuration = Outbox.Configuration()
        configuration.maximumCount = 12
        configuration.maximumBytes = 100
        configuration.maximumConcurrent = Int.random(in: 1...3, using: &numbers)
        configuration.maximumAttempts = 3
        configuration.maximumAge = .seconds(60)
        configuration.backoff = .exponential(base: .seconds(1), cap: .seconds(8))
        limits = Outbox.Limits(configuration)
        machine = OutboxMachine(limits, partition: partition, environment: environment)
    }

    private static func environment(_ name: Int, _ fields: Int) -> OutboxEnvironment {
        OutboxEnvironment(name: "e\(name)", baseURL: "", fields: fields == 0 ? "" : "1")
    }

    mutating func perform(_ count: Int) {
        for _ in 0..<count where problem == nil { step() }
    }

    // MARK: Events

    private mutating func step() {
        let isLate = Int.random(in: 0..<20, using: &numbers) == 0
        let seconds = isLate ? Double.random(in: 0...40, using: &numbers) : Double.random(in: 0...2, using: &numbers)
        let passed = Duration.milliseconds(Int(seconds * 1_000))
        moment.now += passed
        moment.bootTime = moment.bootTime.map { BootTime(boot: $0.boot, elapsed: $0.elapsed + passed) }
        moment.date = moment.date.addingTimeInterval(Double(Int(seconds * 1_000)) / 1_000)
        // The wall clock is set.
        if Int.random(in: 0..<15, using: &numbers) == 0 {
            moment.date = moment.date.addingTimeInterval(Double(Int.random(in: -100...100, using: &numbers)))
        }
        moment.fraction = Double.random(in: 0...1, using: &numbers)
        (expiresAll, mayFail) = (false, nil)
        switch Int.random(in: 0..<24, using: &numbers) {
        case 0...4: add()
        case 5...7: endStoring()
        case 8...11: endSending()
        case 12...14: endChange()
        case 15: changeByHand()
        case 16:
            isPaused = Bool.random(using: &numbers)
            if isPaused { machine.pause() } else { tickLike("resume") { $0.resume($1) } }
        case 17: hasten("drain") { $0 != .server }
        case 18: hasten("path") { $0 == .network }
        case 19:
            partition = ["p0", "p1", nil].randomElement(using: &numbers) ?? nil
            apply("enter \(partition?.name ?? "-")", machine.enter(partition, moment))
        case 20:
            environment = Self.environment(
                Int.random(in: 0...1, using: &numbers), Int.random(in: 0...1, using: &numbers))
            apply("environment \(environment)", machine.enter(environment: environment, moment))
        case 21: restart()
        default: tickLike("tick") { $0.tick($1) }
        }
        check()
    }

    private mutating func add() {
        guard let partition else { return }
        let bytes = Int.random(in: 1...20, using: &numbers)
        let id = machine.nextID(moment.date)
        let entry = OutboxEntry(
            id: id, method: .post, path: "p", orderingKey: OrderingKey("k\(Int.random(in: 0...2, using: &numbers))"),
            partition: partition, date: moment.date, idempotencyKey: "\(id)", byteCount: bytes,
            bootTime: Int.random(in: 0...3, using: &numbers) == 0 ? nil : moment.bootTime, environment: environment)
        let isFull = model.count >= limits.maximumCount
        let isLarge = model.values.reduce(0) { $0 + $1.entry.byteCount } + bytes > limits.maximumBytes
        let isTaken = (try? machine.reserve(entry, moment)) != nil
        history.append("add \(id.number) \(entry.orderingKey) \(isTaken)")
        if isTaken != (!isFull && !isLarge) { fail("taken: \(isTaken)") }
        if isTaken { model[id] = OutboxModelEntry(entry: entry, phase: .storing, start: moment.now) }
    }

    private mutating func one(_ fits: (OutboxModelEntry.Phase) -> Bool) -> OutboxEntry.ID? {
        model.filter { fits($0.value.phase) }.keys.sorted().randomElement(using: &numbers)
    }

    private mutating func endStoring() {
        guard let id = one({ $0 == .storing }) else { return }
        if Int.random(in: 0..<5, using: &numbers) == 0 {
            model[id] = nil
            apply("not stored \(id.number)", machine.notStored(id, moment))
        } else {
            let bytes = Int.random(in: 1...20, using: &numbers)
            model[id]?.phase = .waiting
            model[id]?.entry.byteCount = bytes
            apply("stored \(id.number)", machine.stored(id, byteCount: bytes, moment))
        }
    }

    private mutating func endSending() {
        guard let id = one({ $0 == .sending }), var item = model[id] else { return }
        let kind = Int.random(in: 0..<8, using: &numbers)
        if kind < 3 {
            item.phase = .removingSent
            item.attempts += 1
            model[id] = item
            return apply("sent \(id.number)", machine.sent(id, status: 200, moment))
        }
        if kind == 7 {
            model[id] = nil
            return apply("lost \(id.number)", machine.lost(id, moment))
        }
        let failure: RequestFailure
        var (isFinal, cause, retryAfter) = (false, OutboxMachine.DelayCause.backoff, Duration?.none)
        switch kind {
        case 3: (failure, isFinal) = (Self.status(404), true)
        case 4:
            failure = Self.status(503)
            item.attempts += 1
        case 5:
            failure = RequestFailure(.connection, "", transmission: .unsent)
            cause = .network
        default:
            failure = Self.status(429)
            item.attempts += 1
            (retryAfter, cause) = (.seconds(5), .server)
        }
        if isFinal || item.attempts >= limits.maximumAttempts {
            mayFail = id
        } else {
            item.delays += 1
            let backoff = Duration.seconds(1 << min(item.delays - 1, 3)) * moment.fraction
            item.phase = .delayed(until: moment.now + max(backoff, retryAfter ?? .zero), cause)
        }
        model[id] = item
        apply(
            "failed \(id.number) \(kind)", machine.failed(id, failure, retryAfter: retryAfter, moment))
        if mayFail != nil { fail("\(id.number) was not given up") }
    }

    private static func status(_ code: Int) -> RequestFailure {
        RequestFailure(
            .status, "",
            response: FailedResponse(head: HTTPResponse(status: HTTPResponse.Status(code: code)), body: Data()))
    }

    private mutating func endChange() {
        let id = one { phase in
            switch phase {
            case .removingSent, .removingDropped, .settingAside, .restoring, .reviving: true
            default: false
            }
        }
        guard let id, let phase = model[id]?.phase else { return }
        let fails = Int.random(in: 0..<4, using: &numbers) == 0
        switch phase {
        case .settingAside:
            model[id]?.phase = .failed
            model[id]?.blocks = false
            apply("set aside \(id.number)", machine.setAside(id, moment))
        case .restoring where fails, .reviving where fails:
            model[id]?.phase = .failed
            apply("not restored \(id.number)", machine.notRestored(id, moment))
        case .restoring, .reviving:
            model[id]?.phase = .waiting
            model[id]?.isAgedOut = false
            if phase == .restoring {
                model[id]?.start = moment.now
                model[id]?.isDated = false
            }
            model[id]?.attempts = 0
            model[id]?.delays = 0
            apply("restored \(id.number)", machine.restored(id, moment))
        case .removingDropped(let earlier) where fails:
            model[id]?.phase = earlier
            apply("not removed \(id.number)", machine.notRemoved(id, moment))
        default:
            model[id] = nil
            apply("removed \(id.number)", machine.removed(id, moment))
        }
    }

    private mutating func changeByHand() {
        guard let id = model.keys.sorted().randomElement(using: &numbers), let phase = model[id]?.phase else { return }
        if Bool.random(using: &numbers) {
            let isDone = machine.retry(id)
            history.append("retry \(id.number) \(isDone)")
            if isDone != (phase == .failed) { fail("retried: \(isDone)") }
            if isDone { model[id]?.phase = .restoring }
        } else {
            var isAllowed = phase == .waiting || phase == .failed
            if case .delayed = phase { isAllowed = true }
            let isDone = machine.drop(id)
            history.append("drop \(id.number) \(isDone)")
            if isDone != isAllowed { fail("dropped: \(isDone)") }
            if isDone { model[id]?.phase = .removingDropped(phase) }
        }
    }

    private mutating func tickLike(
        _ name: String, _ event: (inout OutboxMachine, OutboxMachine.Moment) -> [OutboxMachine.Action]
    ) {
        for (id, item) in model {
            if case .delayed(let until, _) = item.phase, until <= moment.now { model[id]?.phase = .waiting }
        }
        expiresAll = true
        apply(name, event(&machine, moment))
    }

    private mutating func hasten(_ name: String, _ applies: (OutboxMachine.DelayCause) -> Bool) {
        for (id, item) in model {
            if case .delayed(_, let cause) = item.phase, applies(cause) { model[id]?.phase = .waiting }
        }
        expiresAll = true
        let actions = name == "drain" ? machine.drain(moment) : machine.pathIsBack(moment)
        apply(name, actions)
    }

    /// Ends the process at any moment, perhaps with its machine. Another process reads the directory.
    private mutating func restart() {
        if Bool.random(using: &numbers) {
            reboots += 1
            moment.bootTime = BootTime(boot: "\(reboots)", elapsed: .zero)
        }
        machine = OutboxMachine(limits, partition: partition, environment: environment)
        isPaused = false
        var found: [(entry: OutboxEntry, failure: OutboxFailure?)] = []
        for (id, item) in model {
            var item = item
            switch item.phase {
            // Files that were not removed yet still exist, and so do requests in flight.
            case .storing: model[id] = nil
            case .failed, .removingDropped(.failed):
                let reason: RequestFailure.Reason = item.isAgedOut ? .timeout : .status
                found.append(
                    (
                        item.entry,
                        OutboxFailure(reason: reason, message: "", date: moment.date, isByAge: item.isAgedOut)
                    ))
                item.phase = .failed
                model[id] = read(item)
            default:
                found.append((item.entry, nil))
                item.phase = .waiting
                (item.attempts, item.delays, item.blocks, item.isAgedOut) = (0, 0, false, false)
                model[id] = read(item)
            }
        }
        expiresAll = true
        apply("restart", machine.load(found, moment))
    }

    // MARK: Checks

    private mutating func fail(_ text: String) { if problem == nil { problem = text } }

    /// An entry that another process has added.
    private func read(_ item: OutboxModelEntry) -> OutboxModelEntry {
        var item = item
        item.isDated = item.entry.bootTime?.boot != moment.bootTime?.boot
        if let added = item.entry.bootTime?.elapsed, let now = moment.bootTime?.elapsed, !item.isDated {
            item.start = moment.now - (now - added)
        } else {
            item.start = moment.now - wait(of: item)
        }
        return item
    }

    /// How long an entry has waited by the wall clock.
    private func wait(of item: OutboxModelEntry) -> Duration {
        .seconds(max(0, moment.date.timeIntervalSince(item.entry.date)))
    }

    /// Whether an entry has waited for too long since it was read, and by the wall clock too if that decides.
    private func isTooOld(_ item: OutboxModelEntry) -> Bool {
        item.start + maximumAge <= moment.now && (!item.isDated || wait(of: item) >= maximumAge)
    }

    /// Makes an entry younger by the wall clock, if it would be too old.
    private mutating func correct(_ id: OutboxEntry.ID) {
        guard let item = model[id], item.isDated, item.start + maximumAge <= moment.now else { return }
        let start = max(item.start, moment.now - wait(of: item))
        model[id]?.start = start
    }

    /// Whether it is the turn of an entry.
    private func hasTurn(_ item: OutboxModelEntry) -> Bool {
        guard item.phase == .waiting, item.entry.partition == partition, item.entry.environment == environment else {
            return false
        }
        let lane = model.values.filter { $0.lane == item.lane }
        for other in lane where other.entry.id != item.entry.id {
            switch other.phase {
            case .sending, .removingSent: return false
            case .settingAside where other.blocks: return false
            case .failed, .restoring, .reviving, .removingDropped(.failed): continue
            default: if other.entry.id < item.entry.id { return false }
            }
        }
        return true
    }

    private var sendingCount: Int { model.values.count { $0.phase == .sending } }

    private mutating func apply(_ event: String, _ actions: [OutboxMachine.Action]) {
        history.append("\(moment.now) \(event): \(actions.filter { if case .tell = $0 { false } else { true } })")
        for action in actions {
            switch action {
            case .send(let id):
                guard let item = model[id], hasTurn(item), !isTooOld(item), !isPaused,
                    sendingCount < limits.maximumConcurrent
                else { return fail("\(id.number) must not be sent") }
                model[id]?.phase = .sending
                correct(id)
            case .restore(let id):
                guard let item = model[id], item.phase == .failed, item.isAgedOut, !isTooOld(item) else {
                    return fail("\(id.number) must not be taken back")
                }
                model[id]?.phase = .reviving
                correct(id)
            case .remove(let id):
                if model[id]?.phase != .removingSent { fail("\(id.number) must not be removed") }
            case .setAside(let id, let failure):
                guard let item = model[id] else { return fail("\(id.number) is unknown") }
                if mayFail == id {
                    model[id]?.blocks = true
                    mayFail = nil
                } else {
                    var mayExpire = item.phase == .waiting
                    if case .delayed = item.phase { mayExpire = true }
                    if !mayExpire || !isTooOld(item) || !failure.isByAge {
                        fail("\(id.number) must not be given up")
                    }
                    model[id]?.isAgedOut = true
                }
                model[id]?.phase = .settingAside
            case .tell: break
            }
        }
    }

    private mutating func check() {
        if Set(machine.items.keys) != Set(model.keys) { fail("other entries") }
        if machine.bytes != model.values.reduce(0, { $0 + $1.entry.byteCount }) { fail("bytes") }
        if machine.sendingCount != sendingCount { fail("sending") }
        for (id, item) in model {
            if machine.entry(id).map({ Self.name($0.state) }) != shown(item) {
                fail("\(id.number) is \(String(describing: machine.entry(id)?.state)), not \(shown(item))")
            }
        }
        if machine.entries.map(\.id) != model.filter({ $0.value.phase != .storing }).keys.sorted() { fail("list") }
        let isStopped = isPaused || sendingCount >= limits.maximumConcurrent
        if !isStopped, let left = model.values.first(where: hasTurn) { fail("\(left.entry.id.number) is forgotten") }
        if expiresAll {
            for item in model.values {
                var isKept = item.phase == .waiting
                if case .delayed = item.phase { isKept = true }
                if isKept, isTooOld(item) { fail("\(item.entry.id.number) is too old") }
                if isKept { correct(item.entry.id) }
                if item.phase == .failed, item.isAgedOut, !isTooOld(item) {
                    fail("\(item.entry.id.number) is not too old")
                }
            }
        }
        checkWaits()
    }

    private mutating func checkWaits() {
        let isChanging = model.values.contains { item in
            switch item.phase {
            case .storing, .removingSent, .removingDropped, .settingAside, .restoring, .reviving: true
            default: false
            }
        }
        let canSend = !isPaused && model.values.contains(where: hasTurn)
        if machine.isIdle != (sendingCount == 0 && !isChanging && !canSend) { fail("idle: \(machine.isIdle)") }
        let wake = machine.nextWake
        for item in model.values {
            if case .delayed(let until, _) = item.phase, !isPaused, wake.map({ $0 > until }) ?? true {
                fail("\(item.entry.id.number) is not woken")
            }
            var ages = item.phase == .waiting
            if case .delayed = item.phase { ages = true }
            if ages, wake.map({ $0 > item.start + maximumAge }) ?? true {
                fail("\(item.entry.id.number) does not age: \(String(describing: wake)) at \(moment.now)")
            }
            let mayRevive = item.phase == .failed && item.isAgedOut && item.isDated
            if mayRevive, wake.map({ $0 > moment.now + OutboxMachine.revivalPeriod }) ?? true {
                fail("\(item.entry.id.number) is given up for good")
            }
        }
    }

    private func shown(_ item: OutboxModelEntry) -> String {
        switch item.phase {
        case .sending, .removingSent: return "sending"
        case .failed, .settingAside: return "failed"
        case .storing, .waiting, .restoring, .reviving, .removingDropped, .delayed:
            if item.entry.partition != partition { return "otherPartition" }
            if item.entry.environment != environment { return "otherEnvironment" }
            if case .delayed = item.phase { return "delayed" }
            return "waiting"
        }
    }

    private static func name(_ state: OutboxEntry.State) -> String {
        switch state {
        case .waiting: "waiting"
        case .delayed: "delayed"
        case .otherPartition: "otherPartition"
        case .otherEnvironment: "otherEnvironment"
        case .sending: "sending"
        case .sent: "sent"
        case .failed: "failed"
        case .dropped: "dropped"
        }
    }
}
