import Testing

@testable import EssentialsResources

@Suite struct PollingMachineTests {
    private static let five = RefreshSchedule(every: .seconds(5))
    private static let two = RefreshSchedule(every: .seconds(2))

    /// A machine with one observer, whose first load ended at 100 s.
    private func polling(_ schedule: RefreshSchedule = five) -> PollingMachine {
        var machine = PollingMachine(schedule)
        _ = machine.observerJoined(nil, now: .seconds(99), random: 0)
        _ = machine.loadBegan(now: .seconds(99))
        _ = machine.loadEnded(.success, now: .seconds(100), random: 0)
        return machine
    }

    @Test("A load is due when the interval has passed since the last one ended")
    func due() {
        var machine = polling()
        #expect(machine.timerFired(now: .seconds(104)) == .wait(until: .seconds(105)))
        #expect(machine.timerFired(now: .seconds(105)) == .load)
        #expect(machine.timerFired(now: .seconds(106)) == .rest)
        #expect(machine.loadBegan(now: .seconds(106)) == .rest)
        #expect(machine.timerFired(now: .seconds(120)) == .rest)
        #expect(machine.loadEnded(.success, now: .seconds(120), random: 0) == .wait(until: .seconds(125)))
    }

    @Test("A load that other code started restarts the countdown when it ends")
    func otherLoads() {
        var machine = polling()
        #expect(machine.loadBegan(now: .seconds(103)) == .rest)
        #expect(machine.loadBegan(now: .seconds(104)) == .rest)
        #expect(machine.loadEnded(.success, now: .seconds(106), random: 0) == .rest)
        #expect(machine.loadEnded(.cancelled, now: .seconds(107), random: 0) == .wait(until: .seconds(112)))
    }

    @Test("The shortest interval of the resource and its observers counts")
    func least() {
        var machine = polling()
        #expect(machine.observerJoined(Self.two, now: .seconds(101), random: 0) == .wait(until: .seconds(102)))
        #expect(machine.observerJoined(Self.two, now: .seconds(101), random: 0) == .wait(until: .seconds(102)))
        #expect(machine.observerLeft(Self.two, now: .seconds(101)) == .wait(until: .seconds(102)))
        #expect(machine.observerLeft(Self.two, now: .seconds(101)) == .wait(until: .seconds(105)))
        #expect(machine.configured(nil, now: .seconds(101)) == .rest)
        #expect(machine.observerJoined(Self.two, now: .seconds(103), random: 0) == .load)
    }

    @Test("Failures double the pause up to eight times, until a load succeeds")
    func failures() {
        var machine = polling()
        for (index, pause) in [10, 20, 40, 40, 40].enumerated() {
            _ = machine.loadBegan(now: .seconds(200))
            let action = machine.loadEnded(.failure, now: .seconds(200), random: 0)
            #expect(action == .wait(until: .seconds(200 + pause)), "failure \(index)")
        }
        _ = machine.loadBegan(now: .seconds(200))
        #expect(machine.loadEnded(.cancelled, now: .seconds(300), random: 0) == .wait(until: .seconds(340)))
        _ = machine.loadBegan(now: .seconds(300))
        #expect(machine.loadEnded(.success, now: .seconds(300), random: 0) == .wait(until: .seconds(305)))
    }

    @Test("Nothing is due without an observer, and the next observer continues the countdown")
    func observers() {
        var machine = polling()
        #expect(machine.observerLeft(nil, now: .seconds(101)) == .rest)
        #expect(machine.timerFired(now: .seconds(105)) == .rest)
        #expect(machine.observerLeft(nil, now: .seconds(105)) == .rest)
        var soon = machine
        #expect(soon.observerJoined(nil, now: .seconds(103), random: 9) == .wait(until: .seconds(105)))
        #expect(machine.observerJoined(nil, now: .seconds(150), random: 9) == .load)
    }

    @Test("The countdown of a resource that was never loaded begins with its first observer")
    func neverLoaded() {
        var machine = PollingMachine(Self.five)
        #expect(machine.timerFired(now: .seconds(9)) == .rest)
        #expect(machine.observerJoined(nil, now: .seconds(10), random: 0) == .wait(until: .seconds(15)))
        #expect(machine.observerJoined(nil, now: .seconds(14), random: 0) == .wait(until: .seconds(15)))
    }

    @Test("An unreachable network pauses the polling")
    func reachability() {
        var machine = polling()
        #expect(machine.reachabilityChanged(false, now: .seconds(101)) == .rest)
        #expect(machine.timerFired(now: .seconds(110)) == .rest)
        #expect(machine.reachabilityChanged(true, now: .seconds(111)) == .load)
        var short = polling()
        _ = short.reachabilityChanged(false, now: .seconds(101))
        #expect(short.reachabilityChanged(true, now: .seconds(102)) == .wait(until: .seconds(105)))
    }

    @Test("A rule ends the polling until the resource is configured again")
    func rule() {
        var machine = polling()
        #expect(machine.end(now: .seconds(101)) == .rest)
        #expect(machine.observerJoined(Self.two, now: .seconds(200), random: 0) == .rest)
        #expect(machine.timerFired(now: .seconds(210)) == .rest)
        #expect(machine.configured(Self.five, now: .seconds(220)) == .load)
    }

    @Test("Jitter lengthens the pause by a part of it, which stays the same during a countdown")
    func jitter() {
        let schedule = RefreshSchedule(every: .seconds(10), jitter: 0.5)
        var machine = polling(schedule)
        _ = machine.loadBegan(now: .seconds(200))
        let half = UInt64(1) << 63
        #expect(machine.loadEnded(.success, now: .seconds(200), random: half) == .wait(until: .milliseconds(212_500)))
        #expect(machine.observerJoined(nil, now: .seconds(201), random: 0) == .wait(until: .milliseconds(212_500)))
        _ = machine.loadBegan(now: .seconds(201))
        let longest = machine.loadEnded(.success, now: .seconds(300), random: .max)
        guard case .wait(let time) = longest else { Issue.record("no timer"); return }
        #expect(time > .milliseconds(314_999) && time <= .seconds(315))
    }

    @Test("The countdown of content that is older than the polling began when its load ended")
    func earlierLoad() {
        var machine = PollingMachine(Self.five, lastEnd: .seconds(100))
        #expect(machine.observerJoined(nil, now: .seconds(103), random: 9) == .wait(until: .seconds(105)))
        var old = PollingMachine(Self.five, lastEnd: .seconds(100))
        #expect(old.observerJoined(nil, now: .seconds(200), random: 9) == .load)
        var failed = PollingMachine(Self.five, lastEnd: .seconds(100), hasFailed: true)
        #expect(failed.observerJoined(nil, now: .seconds(103), random: 9) == .wait(until: .seconds(110)))
        var unreachable = PollingMachine(Self.five, lastEnd: .seconds(100), isReachable: false)
        #expect(unreachable.observerJoined(nil, now: .seconds(200), random: 9) == .rest)
        #expect(unreachable.reachabilityChanged(true, now: .seconds(201)) == .load)
    }

    @Test("A demanded load that was not started is demanded again while there are observers")
    func refused() {
        var machine = polling()
        #expect(machine.timerFired(now: .seconds(105)) == .load)
        var left = machine
        #expect(machine.loadRefused(now: .seconds(106)) == .load)
        _ = left.observerLeft(nil, now: .seconds(105))
        #expect(left.loadRefused(now: .seconds(106)) == .rest)
        #expect(left.observerJoined(nil, now: .seconds(107), random: 0) == .load)
    }

    @Test("The schedule of an observer can end before the observer leaves")
    func scheduleEnded() {
        var machine = polling()
        _ = machine.observerJoined(Self.two, now: .seconds(100), random: 0)
        #expect(machine.scheduleEnded(Self.two, now: .seconds(101)) == .wait(until: .seconds(105)))
        #expect(machine.observerLeft(nil, now: .seconds(101)) == .wait(until: .seconds(105)))
        #expect(machine.observerLeft(nil, now: .seconds(101)) == .rest)
    }

    @Test("Intervals and jitter have limits")
    func limits() {
        #expect(RefreshSchedule(every: .zero).interval == .milliseconds(10))
        #expect(RefreshSchedule(every: .seconds(-1)).interval == .milliseconds(10))
        #expect(RefreshSchedule(every: .seconds(Int64.max), jitter: 9).jitter == 1)
        #expect(RefreshSchedule(every: .seconds(1), jitter: .nan).jitter == 0)
        var machine = polling(RefreshSchedule(every: .seconds(Int64.max), jitter: 1))
        for _ in 0..<5 { _ = machine.loadEnded(.failure, now: .seconds(100), random: .max) }
        #expect(machine.timerFired(now: .seconds(100)) != .load)
    }
}
