import EssentialsFetching
import EssentialsHTTP
import EssentialsResources
import EssentialsTestKit
import EssentialsTools
import Glibc
import TestTools

@testable import EssentialsRequests

/// Drives one random sequence: it chooses the steps, performs them with the product, and lets the model judge them.
final class IdentityDriver {
    /// The maximum number of steps of a sequence.
    static let maximumSteps = 40

    let seed: UInt64
    var random: SeededNumbers
    let plan: IdentityPlan
    let model: IdentityModel
    let transport: IdentityTransport
    let clock = ManualClock()
    let directory: IdentityDirectory
    var client: IdentityClient
    var operations: IdentityOperations
    var watcher: IdentityWatcher
    /// The steps so far.
    var steps: [String] = []
    /// The fetches that were described earlier.
    var descriptions: [(path: String, emissions: Emissions<MadeItem>, shared: IdentityModel.View?)] = []
    var observations: [IdentityObservation] = []
    var subscription: EventSubscription?
    /// The logouts for which the driver has not waited yet.
    var logouts: [Task<Void, Never>] = []
    /// Whether the application still has to enter the account of the current user.
    var needsToEnter = false
    var lastToken = 0
    /// The token of the previous process, for each origin.
    var formerTokens: [String: String] = [:]
    /// How often the test has given up waiting for quiet.
    var impatience = 0

    static let resourcePaths = ["r0", "r1"]
    static let modelPaths = ["r0", "m1"]
    static let blobPaths = ["b0", "b1"]

    init(seed: UInt64) throws {
        self.seed = seed
        random = SeededNumbers(state: seed &* 0x2545_f491_4f6c_dd1d &+ 1)
        var plan = IdentityPlan()
        plan.hasAccounts = random.percent < 60
        plan.storesEntities = random.percent < 70
        plan.sharesCache = random.percent < 30
        plan.habits.holds = [0, 20, 40, 60][Int(random.next() % 4)]
        self.plan = plan
        model = IdentityModel(hasAccounts: plan.hasAccounts)
        transport = IdentityTransport(model, seed: seed, plan.habits)
        directory = try IdentityDirectory()
        client = try IdentityClient(plan, in: directory, over: transport, clock, environment: 0)
        operations = IdentityOperations(model)
        watcher = IdentityWatcher(model)
    }

    /// Performs the sequence, and stops at the first violation.
    func run() async throws {
        let count = 5 + Int(random.next() % UInt64(Self.maximumSteps - 4))
        while steps.count < count, model.violations.isEmpty {
            model.noteActivity()
            try await step()
            if random.percent < 85 { await settle() } else { model.becameBusy() }
        }
        if model.violations.isEmpty {
            await settle()
            try await end()
        } else {
            await endProcess()
        }
    }

    // MARK: Choices

    func choose(_ count: Int) -> Int { Int(random.next() % UInt64(count)) }
    func choose<Element>(_ elements: [Element]) -> Element { elements[choose(elements.count)] }
    func note(_ step: String) { steps.append(step) }

    var origin: String { IdentityModel.origin(model.view.environment) }
    var user: String { TestedToken.user(of: model.view.token) }

    // MARK: Quiet

    /// Waits until every operation has ended or waits for a held response, and then checks the shown values.
    func settle() async {
        let start = ContinuousClock.now
        var (seen, rounds, polls, hasPaused) = (model.activity, 0, 0, false)
        while rounds < 4 {
            await watcher.barrier()
            for _ in 0..<8 { await Task.yield() }
            polls += 1
            let activity = model.activity
            if activity != seen || isBusy { (seen, rounds) = (activity, 0) } else { rounds += 1 }
            // A thread can be delayed just before it hands over its request, as long as others use the processors.
            if rounds == 4, !isAllAtServer, ContinuousClock.now - start < max(.milliseconds(30), Self.turn ?? .zero) {
                rounds = 3
                try? await Task.sleep(for: .milliseconds(1))
            }
            // A thread can also be delayed between receiving a state as an observer and checking it.
            if rounds == 4, !hasPaused, let turn = Self.turn {
                (rounds, hasPaused) = (3, true)
                try? await Task.sleep(for: turn)
            }
            if polls > 20, rounds == 0 { try? await Task.sleep(for: .microseconds(200)) }
            if ContinuousClock.now - start > .seconds(2) {
                impatience += 1
                break
            }
        }
        for path in Self.resourcePaths {
            let resource = client.resource(path)
            let state = resource.state
            if rounds == 4 { model.becameQuiet() }
            model.check(state, "the state of \(path)")
        }
    }

    /// Whether any work is running that does not wait for the server.
    private var isBusy: Bool {
        let held = transport.heldPaths
        if operations.paths.contains(where: { !held.contains($0) }) { return true }
        for resource in client.resources.busyResources {
            let name = resource.description.split(separator: "/").last.map(String.init) ?? ""
            if !held.contains(name) { return true }
        }
        if let subscription, subscription.status == .connecting, !held.contains("events") { return true }
        return false
    }

    /// How long a runnable thread may have to wait because others use the processors; `nil` if they are free.
    private static var turn: Duration? {
        var load = 0.0
        guard getloadavg(&load, 1) == 1, load > 2 * Double(sysconf(Int32(_SC_NPROCESSORS_ONLN))) else { return nil }
        // A time slice has a few milliseconds.
        return .milliseconds(Int(min(5 * load, 300)))
    }

    /// Whether every running request has reached the server. It is `false` also for a request that waits for a retry.
    private var isAllAtServer: Bool {
        guard let joins = client.requests.settings.joins?.usage else { return true }
        // Requests of a group reach the server as one.
        let exchanges = client.requests.requestsInFlight - joins.waiters + joins.groups
        return exchanges <= transport.heldCount + transport.streams.count
    }

    // MARK: The end

    /// Ends the process, and checks everything that it has stored.
    private func end() async throws {
        note("end")
        await endProcess()
        checkFiles()
        try await IdentityAudit(driver: self).run()
    }

    /// Ends the services. Responses that are held are lost.
    func endProcess() async {
        observations = []
        subscription = nil
        descriptions = []
        transport.setDown(true)
        let operations = operations
        let close = IdentityOperations(model)
        let (client, logouts) = (client, logouts)
        close.begin("") {
            for logout in logouts { await logout.value }
            await client.close()
        }
        self.logouts = []
        let start = ContinuousClock.now
        while close.count > 0 || operations.count > 0 {
            await Task.yield()
            let elapsed = ContinuousClock.now - start
            // Work that waits only for the clock then ends.
            if elapsed > .milliseconds(500) { clock.advance(by: .seconds(10)) }
            guard elapsed < .seconds(60) else {
                model.report("the process does not end", "\(close.count) closing, \(operations.paths)")
                return
            }
        }
        transport.setDown(false)
    }

    /// Checks that the files contain no header field, no ended session, and without accounts no fetched data.
    private func checkFiles() {
        for folder in ["entities", "models", "blobs", "outbox"] {
            for secret in ["secret-zero", "secret-one", "Bearer"] {
                if let file = directory.file(in: folder, containing: secret) {
                    model.report("files: a header field in \(folder)", "\(secret) in \(file)")
                }
            }
        }
        for token in model.state.withLock({ $0.ended }).sorted() {
            if directory.file(in: "cookies", containing: "who\t\(token)") != nil {
                model.report("files: the cookie of a session that has ended", token)
            }
        }
        guard !plan.hasAccounts else { return }
        // Without an account nothing that was fetched with credentials outlives the process.
        for folder in ["entities", "models", "blobs"] {
            for user in Self.users {
                if let file = directory.file(in: folder, containing: "made-for-\(user)") {
                    model.report("files: content of a user without an account in \(folder)", file)
                }
            }
        }
    }

    static let users = ["ada", "bob"]

    func restart() async throws {
        note("restart")
        await endProcess()
        checkFiles()
        formerTokens.merge(model.state.withLock { $0.tokens }) { $1 }
        model.restart()
        if random.percent < 20 { try await IdentityAudit(driver: self).run() }
        let environment = model.view.environment
        client = try IdentityClient(plan, in: directory, over: transport, clock, environment: environment)
        operations = IdentityOperations(model)
        watcher = IdentityWatcher(model)
        needsToEnter = false
    }
}
