import EssentialsFetching
import EssentialsTools

/// The slow model: which user is logged in where, and for whom each item was made. It shares no code with the product.
///
/// These items may be shown:
/// - in an environment, the items that were made for it, because a store compares the name, the base URL and all header
///   fields;
/// - in that environment, to every user, the items that were made without credentials, because they belong to no user;
/// - to a session, the items that were made for it, as long as it lasts;
/// - to an operation that began without credentials, those of the next session at its origin, whose credentials it
///   takes;
/// - with accounts, the items of an earlier session of the user whose account is entered, unless a logout removed them.
final class IdentityModel: Sendable {
    /// An item that the server or the test has made.
    struct Made: Sendable {
        /// The environments for which it can have been made: several if the server cannot distinguish them.
        var environments: Set<Int>
        let token: String?
        let purpose: Purpose
        /// Whether its session had ended before the response left the server.
        var isLate = false
    }

    enum Purpose: Sendable { case response, write, outboxEntry, event }

    struct Place: Hashable, Sendable {
        let place: String
        let user: String
    }

    /// The items that a viewer may see at one moment.
    struct View: Sendable {
        var environment = 0
        var token: String?
        /// The entered account; empty for the shared one.
        var account = ""
        /// Whether the account waits for `enter`, because the credentials have changed.
        var isSuspended = false
        /// The number of the last item.
        var latest = 0
        /// The latest number that a logout removed, by origin and user.
        var removed: [Place: Int] = [:]
        /// The latest number that a wipe removed, by environment and account.
        var wiped: [Place: Int] = [:]
        /// The latest number that was deleted from the cache of models, by account.
        var modelsDeleted: [String: Int] = [:]
        /// The latest number that was removed from the blobs.
        var blobsRemoved = 0
        /// The number of sessions that had begun before.
        var logins = 0
    }

    struct State: Sendable {
        var view = View()
        /// The token of each origin.
        var tokens: [String: String] = [:]
        var ended: Set<String> = []
        /// The tokens in the order in which their sessions began.
        var logins: [String] = []
        /// The tokens whose cookies an earlier process has left in the file, by origin.
        var leftCookies: [String: Set<String>] = [:]
        /// The cookies that a logout has removed since the test was last quiet.
        var recentlyLeftCookies: Set<String> = []
        var made: [Int: Made] = [:]
        /// The views that were current since the test was last quiet, oldest first. The last one is current.
        var recent: [View] = [View()]
        /// The tokens that have ended since the test was last quiet.
        var recentlyEnded: Set<String> = []
        var isQuiet = true
        /// The token of the latest event stream, until the environment changes.
        var followedToken: String?
        var violations: [IdentityViolation] = []
        var activity = 0
        /// How often each kind of item was judged.
        var judged: [String: Int] = [:]
    }

    let hasAccounts: Bool
    let state = Mutex(State())

    init(hasAccounts: Bool) { self.hasAccounts = hasAccounts }

    var violations: [IdentityViolation] { state.withLock { $0.violations } }
    var view: View { state.withLock { $0.view } }
    /// Counts all events, so that the test can wait until there are no more.
    var activity: Int { state.withLock { $0.activity } }

    func noteActivity() { state.withLock { $0.activity += 1 } }

    func report(_ kind: String, _ detail: String) {
        state.withLock { Self.report(kind, detail, &$0) }
    }

    static func report(_ kind: String, _ detail: String, _ state: inout State) {
        guard state.violations.count < 20 else { return }
        state.violations.append(IdentityViolation(kind: kind, detail: detail))
    }

    static func origin(_ environment: Int) -> String { TestedEnvironment.all[environment].origin }

    // MARK: Changes

    /// Performs a change of the product, during which both identities are allowed. Afterwards only the new one is
    /// allowed, if nothing was in progress before.
    func changing(_ update: (inout State) -> Void, _ change: () -> Void) {
        begin(update)
        change()
        end()
    }

    func begin(_ update: (inout State) -> Void) {
        state.withLock { state in
            update(&state)
            let origin = Self.origin(state.view.environment)
            state.view.token = state.tokens[origin]
            state.recent.append(state.view)
        }
    }

    func end() {
        state.withLock { state in
            if state.isQuiet { state.recent = [state.view] }
        }
    }

    /// Records that nothing is in progress any more, except for requests that the server holds.
    func becameQuiet() {
        state.withLock { state in
            state.isQuiet = true
            state.recent = [state.view]
            state.recentlyEnded = []
            state.recentlyLeftCookies = []
        }
    }

    func becameBusy() { state.withLock { $0.isQuiet = false } }

    static func end(_ origin: String, _ state: inout State) {
        guard let token = state.tokens.removeValue(forKey: origin) else { return }
        state.ended.insert(token)
        state.recentlyEnded.insert(token)
    }

    private static func removeLeftCookies(_ origin: String, _ state: inout State) {
        state.recentlyLeftCookies.formUnion(state.leftCookies.removeValue(forKey: origin) ?? [])
    }

    func switchEnvironment(to environment: Int, _ change: () -> Void) {
        changing(
            {
                $0.view.environment = environment
                $0.followedToken = nil
            }, change)
    }

    func setCredentials(_ token: String, _ change: () -> Void) {
        changing(
            { [hasAccounts] state in
                let origin = Self.origin(state.view.environment)
                guard state.tokens[origin] != token else { return }
                if state.tokens[origin] != nil {
                    Self.end(origin, &state)
                    Self.removeLeftCookies(origin, &state)
                    state.view.isSuspended = hasAccounts && !state.view.account.isEmpty
                }
                state.tokens[origin] = token
                state.logins.append(token)
                state.view.logins = state.logins.count
            }, change)
    }

    func logOut(_ change: () -> Void) {
        changing(
            { [hasAccounts] state in
                let origin = Self.origin(state.view.environment)
                Self.removeLeftCookies(origin, &state)
                guard let token = state.tokens[origin] else { return }
                let user = TestedToken.user(of: token)
                if state.view.account == user, !state.view.isSuspended {
                    state.view.removed[Place(place: origin, user: user)] = state.view.latest
                }
                Self.end(origin, &state)
                state.view.isSuspended = hasAccounts && !state.view.account.isEmpty
            }, change)
    }

    func enter(_ account: String, _ change: () -> Void) {
        changing(
            {
                $0.view.account = account
                $0.view.isSuspended = false
            }, change)
    }

    /// Wipes the resources of the current environment and account. Nothing is removed for a suspended account.
    func wipe(_ change: () -> Void) {
        changing(
            { state in
                guard !state.view.isSuspended else { return }
                state.view.wiped[Self.wipedPlace(state.view)] = state.view.latest
            }, change)
    }

    static func wipedPlace(_ view: View) -> Place { Place(place: "\(view.environment)", user: view.account) }

    func deleteModels(of account: String, _ change: () -> Void) {
        changing({ $0.view.modelsDeleted[account] = $0.view.latest }, change)
    }

    func removeBlobs(_ change: () -> Void) {
        changing({ $0.view.blobsRemoved = $0.view.latest }, change)
    }

    /// A new process begins without credentials and account. The cookies of the sessions that have not ended stay in
    /// their file.
    func restart() {
        state.withLock { state in
            for (origin, token) in state.tokens { state.leftCookies[origin, default: []].insert(token) }
            state.tokens = [:]
            state.view.token = nil
            (state.view.account, state.view.isSuspended) = ("", false)
            state.followedToken = nil
            state.recent = [state.view]
            state.isQuiet = true
        }
    }

    // MARK: Items

    /// Makes an item on behalf of the current user, which the test sends.
    func makeLocal(_ purpose: Purpose) -> MadeItem {
        state.withLock { state in
            Self.make([state.view.environment], state.view.token, purpose, &state)
        }
    }

    static func make(
        _ environments: Set<Int>, _ token: String?, _ purpose: Purpose, _ state: inout State
    ) -> MadeItem {
        state.view.latest += 1
        let number = state.view.latest
        state.made[number] = Made(environments: environments, token: token, purpose: purpose)
        state.recent[state.recent.count - 1].latest = number
        return MadeItem(number: number, token: token)
    }

    /// Records that a response leaves the server.
    func answered(_ number: Int) {
        state.withLock { state in
            state.activity += 1
            guard let token = state.made[number]?.token, state.ended.contains(token) else { return }
            state.made[number]?.isLate = true
        }
    }
}
