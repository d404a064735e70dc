import EssentialsFetching
import EssentialsHTTP
import EssentialsRequests
import EssentialsResources
import EssentialsTestKit
import EssentialsTools
import FoundationEssentials

/// The steps that change the user and the environment, and the steps of the server.
extension IdentityDriver {
    /// Performs one random step.
    func step() async throws {
        if needsToEnter, random.percent < 40 { return await enter() }
        switch random.percent {
        case 0..<8: await switchEnvironment()
        case 8..<17: await logIn()
        case 17..<19: setEqualCredentials()
        case 19..<25: await logOut()
        case 25..<27: await waitForLogouts()
        case 27..<51: beginReading()
        case 51..<62: await beginWriting()
        case 62..<76: release()
        case 76..<81: changeStream()
        case 81..<86: observe()
        case 86..<88: operations.cancel(choose); note("cancel an operation")
        case 88..<92: await remove()
        case 92..<94: client.resources.dropUnused(); note("drop unused resources")
        case 94..<97: advance()
        default: try await restart()
        }
    }

    private func switchEnvironment() async {
        let present = model.view.environment
        let next = (present + 1 + choose(TestedEnvironment.all.count - 1)) % TestedEnvironment.all.count
        guard let snapshot = try? TestedEnvironment.all[next].snapshot() else { return }
        let isOtherServer = IdentityModel.origin(next) != origin
        // The user of another server may be a different one, so the application leaves the account first.
        if plan.hasAccounts, isOtherServer {
            await enter("")
            needsToEnter = true
            // The next change may meet observers that are just being notified of this one.
            model.becameBusy()
        }
        note("switch to environment \(next)")
        let client = client
        let isLookedUp = random.percent < 70
        model.switchEnvironment(to: next) {
            client.environment.set(snapshot)
            if isLookedUp { _ = client.resource("r0") }
        }
        // Tasks that only read see the change a moment later.
        if !isLookedUp { model.becameBusy() }
    }

    private func logIn() async {
        let user = choose(Self.users)
        let left = model.state.withLock { [origin] in $0.leftCookies[origin] ?? [] }
        // After a restart the application logs out the earlier user before another one logs in.
        if model.view.token == nil, left.contains(where: { TestedToken.user(of: $0) != user }) {
            await logOut(waits: true)
            model.becameBusy()
        }
        if plan.hasAccounts, random.percent < 50 {
            note("leave the outbox")
            await client.outbox?.leave()
        }
        var token = formerTokens[origin] ?? ""
        formerTokens[origin] = nil
        if TestedToken.user(of: token) != user || model.view.token != nil || random.percent < 30 {
            lastToken += 1
            token = TestedToken.make(user, lastToken, at: origin)
        }
        set(token, "\(model.view.token == nil ? "log in" : "replace the credentials") as \(token)")
        needsToEnter = plan.hasAccounts
    }

    private func setEqualCredentials() {
        guard let token = model.view.token else { return }
        set(token, "set equal credentials")
    }

    private func set(_ token: String, _ step: String) {
        note(step)
        guard let credentials = try? Credentials.bearer(token) else { return }
        let client = client
        model.setCredentials(token) { client.requests.setAuthorization(credentials) }
    }

    private func enter() async { await enter(user) }

    func enter(_ account: String) async {
        note("enter \(account.isEmpty ? "no account" : account)")
        let client = client
        model.enter(account) { client.enter(account) }
        await client.outbox?.enter(EntityPartition(account))
        needsToEnter = false
    }

    private func logOut() async { await logOut(waits: random.percent < 60) }

    private func logOut(waits: Bool) async {
        if plan.hasAccounts, random.percent < 40 {
            note("leave the outbox")
            await client.outbox?.leave()
        }
        note(waits ? "log out" : "log out without waiting")
        let client = client
        var logout: Task<Void, Never>?
        model.logOut { logout = Task.immediate { await client.requests.clearAuthorization() } }
        formerTokens[origin] = nil
        needsToEnter = plan.hasAccounts
        if let logout { logouts.append(logout) }
        if waits { await endLogouts() } else { model.becameBusy() }
    }

    private func waitForLogouts() async {
        guard !logouts.isEmpty else { return }
        note("wait for logouts")
        await endLogouts()
    }

    private func endLogouts() async {
        let waiting = IdentityOperations(model)
        let tasks = logouts
        logouts = []
        waiting.begin("") { for task in tasks { await task.value } }
        await end(waiting, "a logout")
    }

    // MARK: The server

    private func release() {
        if let path = transport.release(choose) { note("release \(path)") }
    }

    private func changeStream() {
        let streams = transport.streams
        switch random.percent {
        case 0..<40 where subscription == nil: follow()
        case 0..<10:
            subscription = nil
            note("follow no more")
        case 10..<25 where !streams.isEmpty:
            note("end a stream")
            choose(streams).cancel()
        default:
            guard !streams.isEmpty else { return follow() }
            note("push an event")
            choose(streams).push()
        }
    }

    private func follow() {
        guard subscription == nil else { return }
        note("follow the events")
        model.beginFollowing()
        let feeds = random.percent < 50 ? "r0" : "r1"
        subscription = client.resources.follow(eventsAt: "events") { event, resources in
            guard let item = MadeItem(json: .init(event.data.utf8)) else { return }
            resources.push(item, to: resources.resource(feeds))
        }
    }

    private func advance() {
        let time = [1, 5, 30, 90][choose(4)]
        note("advance by \(time) s")
        clock.advance(by: .seconds(time))
    }

    // MARK: Observers and removals

    private func observe() {
        if observations.count > 2 || !observations.isEmpty && random.percent < 25 {
            observations.remove(at: choose(observations.count))
            return note("end an observation")
        }
        let (path, kind) = (choose(Self.resourcePaths), choose(5))
        note("observe \(path) in way \(kind)")
        observations.append(IdentityObservation(kind, of: client.resource(path), path, watcher, model))
    }

    private func remove() async {
        let client = client
        switch choose(6) {
        case 0, 1:
            note("wipe everything")
            model.wipe { try? client.resources.wipe(.all) }
        case 2:
            note("wipe everything and purge")
            let isDone = IdentityOperations(model)
            model.wipe { isDone.begin("") { _ = try? await client.resources.wipe(.all, purging: .caches) } }
            model.becameBusy()
        case 3:
            let account = model.view.account
            note("delete the models of \(account.isEmpty ? "no account" : account)")
            await deleteModels(of: account)
        case 4:
            note("remove all blobs")
            let removal = IdentityOperations(model)
            model.removeBlobs { removal.begin("") { await client.blobs.removeAll() } }
            await end(removal, "a removal of blobs")
        default:
            note("invalidate everything")
            try? client.resources.invalidate(.all)
        }
    }

    private func deleteModels(of account: String) async {
        let (client, deletion) = (client, IdentityOperations(model))
        model.deleteModels(of: account) {
            deletion.begin("") { try? await client.models.deleteAll(of: EntityPartition(account)) }
        }
        await end(deletion, "a deletion of models")
    }

    /// Waits for an operation that needs no response. Its files can take seconds on a busy machine. A logout waits five
    /// seconds of the clock for them, and the clock repeats removals that fail.
    func end(_ operation: IdentityOperations, _ name: String) async {
        let start = ContinuousClock.now
        var hasAdvanced = false
        while operation.count > 0 {
            let elapsed = ContinuousClock.now - start
            if elapsed > .seconds(10), !hasAdvanced {
                note("advance by 10 s")
                clock.advance(by: .seconds(10))
                hasAdvanced = true
            }
            if elapsed > .seconds(90) { return model.report("does not end", name) }
            await Task.yield()
        }
    }
}
