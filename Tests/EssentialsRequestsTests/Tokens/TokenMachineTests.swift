import EssentialsHTTP
import Testing

@testable import EssentialsRequests

@Suite("Token machine")
struct TokenMachineTests {
    private typealias Machine = TokenMachine

    private static func token(_ name: String, lifetime: Duration? = nil) throws -> AccessToken {
        try AccessToken(name, expiresIn: lifetime)
    }

    /// A machine with one session, which has the number 1.
    private func machine() -> Machine {
        var machine = Machine()
        machine.attach(1)
        return machine
    }

    /// A machine that holds one token.
    private func machine(holding name: String, lifetime: Duration? = nil, early: Duration = .zero) throws -> Machine {
        var machine = machine()
        _ = machine.request(from: 1, waiter: 1, at: .zero)
        _ = machine.finished(1, .token(try Self.token(name, lifetime: lifetime)), early: early, at: .zero)
        return machine
    }

    private func lease(_ decision: Machine.Decision) throws -> Machine.Lease {
        guard case .use(let lease) = decision else { throw NoLease(decision: decision) }
        return lease
    }

    private struct NoLease: Error {
        let decision: TokenMachine.Decision
    }

    @Test("A machine only looks for a token if no waiter is given")
    func looking() {
        var machine = machine()
        let before = machine
        #expect(machine.request(from: 1, waiter: nil, at: .zero) == (.wait, []))
        #expect(machine == before)
    }

    @Test("Any number of requests start one refresh, and all of them get its token")
    func joining() throws {
        var machine = machine()
        #expect(machine.request(from: 1, waiter: 1, at: .zero) == (.wait, [.start(refresh: 1, replacing: nil)]))
        for waiter in 2...1_000 {
            #expect(machine.request(from: 1, waiter: waiter, at: .zero) == (.wait, []))
        }
        let token = try Self.token("a")
        let lease = Machine.Lease(token: token, generation: 1, isProven: false)
        #expect(machine.finished(1, .token(token), at: .zero) == [.resume(Array(1...1_000), lease)])
        #expect(machine.waiterCount == 0 && !machine.isRefreshing)
        #expect(machine.request(from: 1, waiter: 1_001, at: .zero) == (.use(lease), []))
    }

    @Test("A refused token is replaced once, and a refusal of an older token replaces nothing")
    func olderGeneration() throws {
        var machine = try machine(holding: "a")
        let old = try Self.token("a")
        #expect(machine.refused(1, in: 1, .repeatable, at: .zero) == (.again, [.start(refresh: 2, replacing: old)]))
        #expect(machine.refused(1, in: 1, .repeatable, at: .zero) == (.again, []))
        #expect(machine.request(from: 1, waiter: 2, at: .zero) == (.wait, []))
        _ = machine.finished(2, .token(try Self.token("b")), at: .zero)
        let before = machine
        #expect(machine.refused(1, in: 1, .repeatable, at: .zero) == (.again, []))
        #expect(machine == before)
        #expect(try lease(machine.request(from: 1, waiter: 3, at: .zero).0).generation == 2)
    }

    @Test("A second refusal of the same request is its result and starts no refresh")
    func lastAttempt() throws {
        var machine = try machine(holding: "a")
        #expect(machine.refused(1, in: 1, .last, at: .zero) == (.handBack(nil), []))
        #expect(!machine.isRefreshing)
        #expect(try lease(machine.request(from: 1, waiter: 2, at: .zero).0).generation == 1)
    }

    @Test("A refused request that cannot be sent again is handed back, and the refresh serves the next one")
    func unrepeatable() throws {
        var machine = try machine(holding: "a")
        let (verdict, actions) = machine.refused(1, in: 1, .unrepeatable, at: .zero)
        #expect(verdict == .handBack(nil))
        #expect(actions == [.start(refresh: 2, replacing: try Self.token("a"))])
        #expect(machine.request(from: 1, waiter: 2, at: .zero).0 == .wait)
    }

    @Test("A failed refresh fails all waiters, and the refused token is not sent again")
    func failing() throws {
        var machine = try machine(holding: "a")
        _ = machine.refused(1, in: 1, .repeatable, at: .zero)
        for waiter in 2...4 { _ = machine.request(from: 1, waiter: waiter, at: .zero) }
        #expect(machine.finished(2, .failed, at: .zero) == [.fail([2, 3, 4], .provider)])
        #expect(machine.request(from: 1, waiter: 5, at: .milliseconds(999)) == (.fail(.provider), []))
        #expect(machine.refused(1, in: 1, .repeatable, at: .milliseconds(999)) == (.fail(.provider), []))
        #expect(machine.refused(1, in: 1, .unrepeatable, at: .milliseconds(999)) == (.handBack(.provider), []))
        let (decision, actions) = machine.request(from: 1, waiter: 6, at: .seconds(1))
        #expect(decision == .wait)
        #expect(actions == [.start(refresh: 3, replacing: try Self.token("a"))])
    }

    @Test("After a rejection requests fail without a call until credentials are set")
    func rejecting() throws {
        var machine = try machine(holding: "a")
        _ = machine.refused(1, in: 1, .repeatable, at: .zero)
        _ = machine.request(from: 1, waiter: 2, at: .zero)
        #expect(machine.finished(2, .rejected, at: .zero) == [.fail([2], .rejected)])
        #expect(machine.request(from: 1, waiter: 3, at: .seconds(86_400)) == (.fail(.rejected), []))
        #expect(machine.refused(1, in: 1, .repeatable, at: .seconds(86_400)) == (.fail(.rejected), []))
        machine.attach(2)
        let (decision, actions) = machine.request(from: 2, waiter: 4, at: .seconds(86_400))
        #expect(decision == .wait)
        #expect(actions == [.start(refresh: 3, replacing: nil)])
    }

    // MARK: Refusals in a row

    @Test("Three new tokens that were refused stop the refreshes for 30 seconds")
    func hold() throws {
        var machine = try machine(holding: "a")
        for number in 2...3 {
            #expect(machine.refused(number - 1, in: 1, .repeatable, at: .zero).0 == .again)
            _ = machine.request(from: 1, waiter: number, at: .zero)
            _ = machine.finished(number, .token(try Self.token("t\(number)")), at: .zero)
        }
        #expect(machine.refused(3, in: 1, .repeatable, at: .zero) == (.handBack(.refusedTooOften), []))
        // The last token stays in use.
        #expect(try lease(machine.request(from: 1, waiter: 9, at: .seconds(29)).0).generation == 3)
        #expect(machine.refused(3, in: 1, .repeatable, at: .seconds(29)) == (.handBack(.refusedTooOften), []))
        #expect(machine.refused(3, in: 1, .repeatable, at: .seconds(30)).0 == .again)
        // One more refusal stops them again.
        _ = machine.finished(4, .token(try Self.token("t4")), at: .seconds(30))
        #expect(machine.refused(4, in: 1, .last, at: .seconds(31)) == (.handBack(nil), []))
        #expect(machine.refused(4, in: 1, .repeatable, at: .seconds(60)) == (.handBack(.refusedTooOften), []))
    }

    @Test("Many refusals of one token count once, and a success begins the count again")
    func count() throws {
        var machine = try machine(holding: "a")
        for _ in 1...10 { _ = machine.refused(1, in: 1, .last, at: .zero) }
        for number in 2...20 {
            let now = Duration.seconds(8 * number)
            #expect(machine.refused(number - 1, in: 1, .repeatable, at: now).0 == .again)
            _ = machine.finished(number, .token(try Self.token("t\(number)")), at: now)
            machine.accepted(number)
        }
    }

    @Test("Five refused tokens within 30 seconds stop the refreshes, although each was accepted before")
    func window() throws {
        var machine = try machine(holding: "a")
        for number in 1...4 {
            machine.accepted(number)
            #expect(machine.refused(number, in: 1, .repeatable, at: .seconds(number)).0 == .again)
            _ = machine.finished(number + 1, .token(try Self.token("t\(number + 1)")), at: .seconds(number))
        }
        machine.accepted(5)
        for _ in 1...3 {
            #expect(machine.refused(5, in: 1, .repeatable, at: .seconds(5)) == (.handBack(.refusedTooOften), []))
            machine.accepted(5)
        }
        // The token stays in use, and one more is requested when the first refusal has left the window.
        #expect(try lease(machine.request(from: 1, waiter: 9, at: .seconds(30)).0).generation == 5)
        #expect(machine.refused(5, in: 1, .repeatable, at: .seconds(30)) == (.handBack(.refusedTooOften), []))
        #expect(machine.refused(5, in: 1, .repeatable, at: .seconds(31)).0 == .again)
        _ = machine.finished(6, .token(try Self.token("t6")), at: .seconds(31))
        #expect(machine.refused(6, in: 1, .repeatable, at: .seconds(31)) == (.handBack(.refusedTooOften), []))
        #expect(machine.refused(6, in: 1, .repeatable, at: .seconds(32)).0 == .again)
        // New credentials begin anew.
        machine.attach(2)
        _ = machine.finished(7, .token(try Self.token("t7")), at: .seconds(32))
        #expect(machine.refused(7, in: 2, .repeatable, at: .seconds(32)).0 == .again)
    }

    @Test("A success with an older token proves nothing about the present one")
    func olderSuccess() throws {
        var machine = try machine(holding: "a")
        _ = machine.refused(1, in: 1, .repeatable, at: .zero)
        _ = machine.finished(2, .token(try Self.token("b")), at: .zero)
        machine.accepted(1)
        #expect(try !lease(machine.request(from: 1, waiter: 2, at: .zero).0).isProven)
        machine.accepted(2)
        #expect(try lease(machine.request(from: 1, waiter: 2, at: .zero).0).isProven)
    }

    // MARK: Expiry

    @Test(
        "The window before the expiry is a tenth of the lifetime and at most a minute",
        arguments: [(600, 60), (100, 10), (86_400, 60), (0, 0), (-5, 0)])
    func window(lifetime: Int, window: Int) {
        #expect(Machine.window(of: .seconds(lifetime)) == .seconds(window))
    }

    @Test("A token is refreshed in the background shortly before it expires, and awaited when it has expired")
    func expiry() throws {
        var machine = try machine(holding: "a", lifetime: .seconds(100), early: .seconds(8))
        #expect(machine.request(from: 1, waiter: 2, at: .milliseconds(91_999)).1 == [])
        let (decision, actions) = machine.request(from: 1, waiter: 2, at: .seconds(92))
        #expect(try lease(decision).generation == 1)
        let old = try Self.token("a", lifetime: .seconds(100))
        #expect(actions == [.start(refresh: 2, replacing: old)])
        #expect(machine.request(from: 1, waiter: 2, at: .seconds(99)).1 == [])
        #expect(machine.request(from: 1, waiter: 2, at: .seconds(100)) == (.wait, []))
        // The time counts from the arrival of the token.
        _ = machine.finished(2, .token(old), early: .seconds(8), at: .seconds(130))
        #expect(try lease(machine.request(from: 1, waiter: 3, at: .seconds(221)).0).generation == 2)
        #expect(machine.request(from: 1, waiter: 3, at: .seconds(230)).0 == .wait)
    }

    @Test("A background refresh that fails leaves the token in use, and is tried again after a second")
    func failedInBackground() throws {
        var machine = try machine(holding: "a", lifetime: .seconds(100), early: .seconds(10))
        _ = machine.request(from: 1, waiter: 2, at: .seconds(90))
        #expect(machine.finished(2, .failed, at: .seconds(91)) == [])
        let first = machine.request(from: 1, waiter: 2, at: .milliseconds(91_999))
        #expect(try lease(first.0).generation == 1)
        #expect(first.1 == [])
        #expect(machine.request(from: 1, waiter: 2, at: .seconds(92)).1.count == 1)
    }

    @Test("A token without any time left serves those who wait for it")
    func noTime() throws {
        var machine = machine()
        _ = machine.request(from: 1, waiter: 1, at: .zero)
        let actions = machine.finished(1, .token(try Self.token("a", lifetime: .zero)), at: .seconds(1))
        guard case .resume([1], let lease)? = actions.first else {
            Issue.record("The waiter was not resumed: \(actions)")
            return
        }
        #expect(lease.generation == 1)
        #expect(machine.request(from: 1, waiter: 2, at: .seconds(1)).0 == .wait)
    }

    @Test("The longest possible lifetime does not overflow")
    func longest() throws {
        let longest = Duration(attoseconds: .max)
        var machine = machine()
        _ = machine.request(from: 1, waiter: 1, at: .zero)
        _ = machine.finished(1, .token(try Self.token("a", lifetime: longest)), at: .seconds(1))
        #expect(try lease(machine.request(from: 1, waiter: 2, at: .seconds(1 << 39)).0).generation == 1)
    }

    // MARK: Waiters and sessions

    @Test("A waiter that leaves does not end the refresh, and the next request uses the token")
    func leaving() throws {
        var machine = machine()
        _ = machine.request(from: 1, waiter: 1, at: .zero)
        let (first, second) = (machine.left(1), machine.left(1))
        #expect(first && !second)
        #expect(machine.isRefreshing)
        #expect(machine.finished(1, .token(try Self.token("a")), at: .zero) == [])
        #expect(try lease(machine.request(from: 1, waiter: 2, at: .zero).0).generation == 1)
    }

    @Test("The end of the only session fails its waiters, cancels the refresh and drops its result")
    func logout() throws {
        var machine = machine()
        _ = machine.request(from: 1, waiter: 1, at: .zero)
        #expect(machine.end(1) == [.fail([1], .ended), .cancel(refresh: 1)])
        #expect(machine.request(from: 1, waiter: 2, at: .zero) == (.fail(.ended), []))
        #expect(machine.finished(1, .token(try Self.token("late")), at: .zero) == [])
        machine.attach(2)
        #expect(machine.request(from: 2, waiter: 3, at: .zero) == (.wait, [.start(refresh: 2, replacing: nil)]))
    }

    @Test("After a new login the waiters get a token that was requested for them, not the late one")
    func newLogin() throws {
        var machine = machine()
        _ = machine.request(from: 1, waiter: 1, at: .zero)
        _ = machine.end(1)
        machine.attach(2)
        // The provider has not returned yet, and is not called a second time at the same time.
        #expect(machine.request(from: 2, waiter: 2, at: .zero) == (.wait, []))
        #expect(machine.finished(1, .token(try Self.token("late")), at: .zero) == [.start(refresh: 2, replacing: nil)])
        let new = try Self.token("new")
        let lease = Machine.Lease(token: new, generation: 1, isProven: false)
        #expect(machine.finished(2, .token(new), at: .zero) == [.resume([2], lease)])
    }

    @Test("The end of one of two sessions leaves the token and the refresh to the other one")
    func twoSessions() throws {
        var machine = machine()
        machine.attach(2)
        _ = machine.request(from: 1, waiter: 1, at: .zero)
        #expect(machine.request(from: 2, waiter: 2, at: .zero) == (.wait, []))
        #expect(machine.end(1) == [.fail([1], .ended)])
        #expect(machine.end(1) == [])
        let token = try Self.token("a")
        let lease = Machine.Lease(token: token, generation: 1, isProven: false)
        #expect(machine.finished(1, .token(token), at: .zero) == [.resume([2], lease)])
    }

    @Test("A refresh that takes too long fails its waiters, and no other one starts before it has returned")
    func overdue() throws {
        var machine = machine()
        _ = machine.request(from: 1, waiter: 1, at: .zero)
        #expect(machine.overdue(1, at: .seconds(30)) == [.cancel(refresh: 1), .fail([1], .overdue)])
        #expect(machine.overdue(1, at: .seconds(30)) == [])
        #expect(machine.request(from: 1, waiter: 2, at: .seconds(60)) == (.fail(.overdue), []))
        #expect(machine.finished(1, .failed, at: .seconds(60)) == [])
        #expect(machine.request(from: 1, waiter: 3, at: .seconds(60)) == (.fail(.overdue), []))
        let (decision, actions) = machine.request(from: 1, waiter: 4, at: .seconds(61))
        #expect(decision == .wait && actions == [.start(refresh: 2, replacing: nil)])
        // A token that comes late is used all the same.
        _ = machine.overdue(2, at: .seconds(91))
        _ = machine.finished(2, .token(try Self.token("late")), at: .seconds(92))
        #expect(try lease(machine.request(from: 1, waiter: 5, at: .seconds(92)).0).generation == 1)
    }

    @Test("The end of a refresh that is not running changes nothing")
    func strangers() throws {
        var machine = try machine(holding: "a")
        let before = machine
        #expect(machine.finished(1, .rejected, at: .zero) == [])
        #expect(machine.finished(7, .failed, at: .zero) == [])
        #expect(machine.overdue(1, at: .zero) == [])
        #expect(machine == before)
    }

    @Test("At most 100,000 requests wait")
    func full() {
        var machine = machine()
        for waiter in 1...100_000 { _ = machine.request(from: 1, waiter: waiter, at: .zero) }
        #expect(machine.request(from: 1, waiter: 100_001, at: .zero) == (.fail(.full), []))
        #expect(machine.waiterCount == 100_000)
    }
}
