import EssentialsFetching
import EssentialsTools

/// Decides whether a request may be sent.
extension IdentityModel {
    /// The parts of a request that the server sees.
    struct Arrival: Sendable {
        var method = "GET"
        var origin = ""
        var path = ""
        var tenant = ""
        var language = ""
        var token: String?
        var cookie: String?
        var lastEventID: String?
        /// The content of the body.
        var body: MadeItem?

        var text: String {
            "\(method) \(origin)/\(path) [\(tenant) \(language)] as \(token ?? "nobody"), cookie \(cookie ?? "none")"
        }
    }

    /// Records a request that has reached the server: it checks that its parts belong together, and makes the
    /// response's item.
    func arrived(_ arrival: Arrival) -> (item: MadeItem, environments: Set<Int>) {
        state.withLock { state in
            state.activity += 1
            state.judged[arrival.body == nil ? "requests" : "writes", default: 0] += 1
            let all = TestedEnvironment.all
            var environments = Set(
                all.indices.filter {
                    (all[$0].origin, all[$0].tenant, all[$0].language)
                        == (arrival.origin, arrival.tenant, arrival.language)
                })
            if environments.isEmpty {
                Self.report("request: fields of one environment at another", arrival.text, &state)
            }
            checkCredentials(arrival, &state)
            checkCookie(arrival, &state)
            if let body = arrival.body, let made = state.made[body.number] {
                checkBody(made, arrival, environments, &state)
            }
            if arrival.path == "events" { checkStream(arrival, environments, &state) }
            // The server does not see the name, but the test knows which environments were used recently.
            let used = Set(state.recent.map(\.environment))
            if !environments.isDisjoint(with: used) { environments.formIntersection(used) }
            if let body = arrival.body, let made = state.made[body.number], made.purpose == .write {
                environments = made.environments
            }
            let purpose = arrival.method == "GET" ? Purpose.response : .write
            return (Self.make(environments, arrival.token, purpose, &state), environments)
        }
    }

    private func checkCredentials(_ arrival: Arrival, _ state: inout State) {
        guard let token = arrival.token else { return }
        if !TestedToken.isAt(arrival.origin, token) {
            Self.report("request: credentials of another origin", arrival.text, &state)
        } else if state.tokens[arrival.origin] != token, !state.recentlyEnded.contains(token) {
            Self.report("request: credentials of a session that has ended", arrival.text, &state)
        }
    }

    private func checkCookie(_ arrival: Arrival, _ state: inout State) {
        guard let cookie = arrival.cookie, cookie != "none", cookie != arrival.token else { return }
        // A process that starts again has the cookies of the previous one, except those of users who have logged out. A
        // request that was on its way at the logout may still arrive.
        let isLeft =
            state.leftCookies[arrival.origin]?.contains(cookie) == true || state.recentlyLeftCookies.contains(cookie)
        let user = TestedToken.user(of: cookie)
        if isLeft, arrival.token == nil || TestedToken.user(of: arrival.token) == user { return }
        let kind = state.ended.contains(cookie) ? "an ended session" : "another session"
        Self.report("request: the cookie of \(kind)", arrival.text, &state)
    }

    /// Checks that a write is sent for its author.
    private func checkBody(_ made: Made, _ arrival: Arrival, _ environments: Set<Int>, _ state: inout State) {
        let all = TestedEnvironment.all
        let name = made.purpose == .outboxEntry ? "outbox" : "write"
        let isRight =
            if made.purpose == .outboxEntry {
                environments.contains { one in
                    made.environments.contains { all[one].sharesOutbox(with: all[$0]) }
                }
            } else {
                !environments.isDisjoint(with: made.environments)
            }
        if !isRight {
            Self.report(
                "\(name): sent in another environment", "\(arrival.text), made in \(made.environments)", &state)
        }
        // A write that was submitted without credentials belongs to no user, and takes the credentials that exist when
        // it is sent. An outbox entry without accounts belongs to the application, which has named no user.
        guard let author = made.token, made.purpose != .outboxEntry || hasAccounts else { return }
        let isSame =
            made.purpose == .outboxEntry
            ? TestedToken.user(of: author) == TestedToken.user(of: arrival.token) : author == arrival.token
        if !isSame {
            let sender = arrival.token == nil ? "nobody" : "another"
            Self.report("\(name): sent as \(sender)", "\(arrival.text), written by \(author)", &state)
        }
    }

    /// A new subscription begins with the current credentials, if there are any.
    func beginFollowing() { state.withLock { $0.followedToken = nil } }

    private func checkStream(_ arrival: Arrival, _ environments: Set<Int>, _ state: inout State) {
        if let id = arrival.lastEventID {
            let made = Int(id).flatMap { state.made[$0] }
            let isRight =
                made.map { $0.token == arrival.token && !$0.environments.isDisjoint(with: environments) } ?? false
            if !isRight {
                let author = made?.token ?? "nobody"
                Self.report("stream: the last event of another", "\(arrival.text), event \(id) of \(author)", &state)
            }
        }
        if arrival.token == nil, let followed = state.followedToken, state.ended.contains(followed),
            state.tokens[arrival.origin] == nil, !state.recentlyEnded.contains(followed)
        {
            Self.report("stream: followed after the logout", arrival.text, &state)
        }
        if arrival.token != nil { state.followedToken = arrival.token }
    }

    /// Makes an event that is sent to a stream.
    func makeEvent(for environments: Set<Int>, _ token: String?) -> MadeItem {
        state.withLock { state in
            state.activity += 1
            let item = Self.make(environments, token, .event, &state)
            if let token, state.ended.contains(token) { state.made[item.number]?.isLate = true }
            return item
        }
    }
}
