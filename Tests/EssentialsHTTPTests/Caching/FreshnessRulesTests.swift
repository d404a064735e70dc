import FoundationEssentials
import TestTools
import Testing

@testable import EssentialsHTTP

@Suite struct FreshnessRulesTests {
    private let rules = FreshnessRules()

    private func content(
        at time: Int, age: Int = 0, isStale: Bool = false, lifetime: Int? = nil
    ) -> FreshnessRules.Outcome {
        .content(
            .init(
                time: .seconds(time), age: .seconds(age), isStale: isStale,
                serverLifetime: lifetime.map { .seconds($0) }))
    }

    @Test("Content is fresh for 30 seconds, and still at the end of them")
    func content() {
        #expect(rules.isFresh(content(at: 100), isInvalid: false, now: .seconds(100)))
        #expect(rules.isFresh(content(at: 100), isInvalid: false, now: .seconds(130)))
        #expect(!rules.isFresh(content(at: 100), isInvalid: false, now: .seconds(130) + .nanoseconds(1)))
    }

    @Test("A failure is fresh for one second, or until the server allows the next request if that is later")
    func failure() {
        let short = FreshnessRules.Outcome.failure(time: .seconds(100), retryAfter: nil)
        #expect(rules.deadline(of: short) == .seconds(101))
        #expect(rules.deadline(of: .failure(time: .seconds(100), retryAfter: .seconds(60))) == .seconds(160))
        #expect(rules.deadline(of: .failure(time: .seconds(100), retryAfter: .zero)) == .seconds(101))
    }

    @Test("A server prevents loads for at most an hour, and the retry time of the application for as long as it says")
    func longRetryAfter() {
        var rules = rules
        #expect(rules.deadline(of: .failure(time: .zero, retryAfter: .seconds(86_400))) == .seconds(3_600))
        rules.retryTime = .seconds(7_200)
        #expect(rules.deadline(of: .failure(time: .zero, retryAfter: .seconds(86_400))) == .seconds(7_200))
    }

    @Test("What was never loaded or is invalid is not fresh")
    func neverFresh() {
        #expect(!rules.isFresh(.none, isInvalid: false, now: .zero))
        #expect(!rules.isFresh(content(at: 100), isInvalid: true, now: .seconds(100)))
        #expect(!rules.isFresh(.failure(time: .zero, retryAfter: nil), isInvalid: true, now: .zero))
    }

    @Test("The age of a stored response is taken off, and a stale one counts as long as a failure")
    func age() {
        #expect(rules.deadline(of: content(at: 100, age: 20)) == .seconds(110))
        #expect(!rules.isFresh(content(at: 100, age: 31), isInvalid: false, now: .seconds(100)))
        #expect(rules.deadline(of: content(at: 100, age: 20, isStale: true)) == .seconds(101))
    }

    @Test("The server's lifetime counts if the rules say so, and otherwise the application's")
    func serverLifetime() {
        var rules = FreshnessRules(expiration: .byServer(otherwise: .seconds(5)))
        #expect(rules.deadline(of: content(at: 0, lifetime: 60)) == .seconds(60))
        #expect(rules.deadline(of: content(at: 0, age: 10, lifetime: 60)) == .seconds(50))
        #expect(rules.deadline(of: content(at: 0)) == .seconds(5))
        #expect(rules.deadline(of: content(at: 0, lifetime: 0)) == nil)
        rules.expiration = .after(.seconds(7))
        #expect(rules.deadline(of: content(at: 0, lifetime: 60)) == .seconds(7))
    }

    @Test("Extreme durations do not overflow")
    func extremes() {
        let extreme = Duration.seconds(Int64.max)
        let rules = FreshnessRules(expiration: .after(extreme), retryTime: extreme)
        #expect(rules.isFresh(content(at: 1), isInvalid: false, now: .seconds(1)))
        #expect(rules.isFresh(.failure(time: .zero, retryAfter: extreme), isInvalid: false, now: .seconds(9)))
        let negative = FreshnessRules(expiration: .after(.seconds(Int64.min)))
        #expect(negative.deadline(of: content(at: 100)) == .seconds(100))
    }

    @Test("Content that outlived the process has the age that passed since by the wall clock")
    func persisted() throws {
        let stored = PersistedTime(date: Date(timeIntervalSince1970: 1_000), age: .seconds(5))
        #expect(stored.age(at: Date(timeIntervalSince1970: 1_010)) == .seconds(15))
        let outcome = stored.content(readAt: .seconds(3), now: Date(timeIntervalSince1970: 1_010))
        #expect(rules.deadline(of: outcome) == .seconds(18))
    }

    @Test("A wall clock that went back makes persisted content stale")
    func clockWentBack() {
        let stored = PersistedTime(date: Date(timeIntervalSince1970: 1_000))
        #expect(stored.age(at: Date(timeIntervalSince1970: 999.9)) == nil)
        let outcome = stored.content(readAt: .zero, now: Date(timeIntervalSince1970: 999.9))
        #expect(!rules.isFresh(outcome, isInvalid: false, now: .zero))
        #expect(PersistedTime(date: Date(timeIntervalSince1970: .nan)).age(at: .distantFuture) == nil)
        #expect(PersistedTime(date: .distantPast).age(at: .distantFuture) != nil)
    }

    @Test("Random histories are fresh as in a list of what happened", arguments: [1, 2] as [UInt64])
    func random(seed: UInt64) {
        var numbers = SeededNumbers(state: seed)
        for round in 0..<5_000 {
            let limit = Int.random(in: 0...20, using: &numbers)
            let retry = Int.random(in: 0...5, using: &numbers)
            let isByServer = Bool.random(using: &numbers)
            let rules = FreshnessRules(
                expiration: isByServer ? .byServer(otherwise: .seconds(limit)) : .after(.seconds(limit)),
                retryTime: .seconds(retry))
            var outcome = FreshnessRules.Outcome.none
            // The seconds in which the resource is fresh, one by one.
            var fresh: Set<Int> = []
            var now = 0
            for _ in 0..<Int.random(in: 1...12, using: &numbers) {
                now += Int.random(in: 0...8, using: &numbers)
                let age = Int.random(in: 0...10, using: &numbers)
                switch Int.random(in: 0..<5, using: &numbers) {
                case 0:
                    let lifetime = Bool.random(using: &numbers) ? Int.random(in: 0...30, using: &numbers) : nil
                    outcome = content(at: now, age: age, lifetime: lifetime)
                    let used = isByServer ? lifetime ?? limit : limit
                    // A lifetime of zero from the server means that it wants to be asked each time.
                    let isAsked = isByServer && lifetime == 0
                    fresh = isAsked ? [] : Set((0...60).filter { $0 + age <= used }.map { $0 + now })
                case 1:
                    outcome = content(at: now, age: age, isStale: true)
                    fresh = Set(now...now + retry)
                case 2:
                    outcome = .failure(time: .seconds(now), retryAfter: age > 5 ? .seconds(age) : nil)
                    fresh = Set(now...now + (age > 5 ? max(age, retry) : retry))
                default: break
                }
                let isInvalid = Int.random(in: 0..<6, using: &numbers) == 0
                #expect(
                    rules.isFresh(outcome, isInvalid: isInvalid, now: .seconds(now))
                        == (fresh.contains(now) && !isInvalid),
                    "seed \(seed), round \(round)")
            }
        }
    }
}
