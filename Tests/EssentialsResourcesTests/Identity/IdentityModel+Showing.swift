import EssentialsFetching
import EssentialsTools

/// Decides whether something may be shown.
extension IdentityModel {
    /// Checks a value that is shown now, such as the state of a resource at a quiet point.
    func checkShown(_ number: Int?, in store: TestedStore, _ context: @autoclosure () -> String) {
        guard let number else { return }
        state.withLock { state in
            state.activity += 1
            state.judged["\(store.rawValue) shown", default: 0] += 1
            // A receiver whose call began before a change may still get the earlier value.
            for view in state.recent.reversed() where objection(to: number, in: store, view, state) == nil { return }
            guard let objection = objection(to: number, in: store, state.view, state) else { return }
            Self.report("\(store.rawValue): \(objection)", "\(context()): \(Self.text(number, state))", &state)
        }
    }

    /// Checks a value that was returned by an operation that began with a view.
    ///
    /// - Parameter isOwn: Whether it is a response to the operation's own request. It belongs to the caller, even after
    ///   the caller has left the account, because no other user sees it.
    func checkReturned(
        _ number: Int?, in store: TestedStore, to begun: View, isOwn: Bool, _ context: @autoclosure () -> String
    ) {
        guard let number else { return }
        state.withLock { state in
            state.activity += 1
            state.judged["\(store.rawValue) \(isOwn ? "returned" : "found")", default: 0] += 1
            let tokens = begun.token.map { [$0] } ?? [nil, Self.firstLogin(since: begun, state)]
            var objection: String?
            for token in tokens {
                var view = begun
                view.token = token
                if isOwn, let made = state.made[number], made.environments.contains(begun.environment),
                    made.token == token
                {
                    return
                }
                if !isOwn, let token, state.ended.contains(token), !state.recentlyEnded.contains(token) {
                    // Nothing of a session is found after its end.
                    (view.token, view.isSuspended) = (nil, true)
                }
                objection = self.objection(to: number, in: store, view, state)
                if objection == nil { return }
            }
            guard let objection else { return }
            let place = isOwn ? "the response of" : "what was stored for"
            Self.report(
                "\(store.rawValue), \(isOwn ? "returned" : "found"): \(objection)",
                "\(context()), \(place) another: \(Self.text(number, state))", &state)
        }
    }

    /// The first session that began after a view at its origin.
    private static func firstLogin(since view: View, _ state: State) -> String? {
        let origin = origin(view.environment)
        return state.logins[view.logins...].first { TestedToken.isAt(origin, $0) }
    }

    /// Checks a value that a program with an identity has found in a store.
    func checkStored(_ number: Int?, in store: TestedStore, as view: View, _ context: @autoclosure () -> String) {
        guard let number else { return }
        state.withLock { state in
            state.judged["\(store.rawValue) stored", default: 0] += 1
            guard let objection = objection(to: number, in: store, view, state) else { return }
            Self.report(
                "\(store.rawValue), stored: \(objection)", "\(context()): \(Self.text(number, state))", &state)
        }
    }

    /// Why something may not be shown with a view; `nil` if it may.
    func objection(to number: Int, in store: TestedStore, _ view: View, _ state: State) -> String? {
        guard let made = state.made[number] else { return "nobody has made it" }
        guard made.environments.contains(view.environment) else { return "of another environment" }
        if let objection = removal(of: number, made, in: store, view) { return objection }
        guard let token = made.token, token != view.token else { return nil }
        let user = TestedToken.user(of: token)
        let present = TestedToken.user(of: view.token)
        guard user == present else {
            return view.token == nil ? "of a user who has left, to nobody" : "of another user"
        }
        guard hasAccounts, view.account == user else { return "of an earlier session, without an account" }
        guard !view.isSuspended else { return "of an earlier session, before the account was entered" }
        if made.isLate { return "of an earlier session, from a late response" }
        // Models of an account stay after a logout; entities and blobs of the entered account do not.
        let removed = view.removed[Place(place: Self.origin(view.environment), user: user)] ?? 0
        return store != .model && number <= removed ? "of an earlier session, removed by the logout" : nil
    }

    private func removal(of number: Int, _ made: Made, in store: TestedStore, _ view: View) -> String? {
        switch store {
        case .resource:
            // The result of a write that was in progress at the wipe may still be shown.
            guard made.purpose == .response else { return nil }
            return number <= view.wiped[Self.wipedPlace(view)] ?? 0 ? "wiped before" : nil
        case .model: return number <= view.modelsDeleted[view.account] ?? 0 ? "deleted before" : nil
        case .blob: return number <= view.blobsRemoved ? "removed before" : nil
        }
    }

    /// A description of an item, and of the current identity.
    static func text(_ number: Int, _ state: State) -> String {
        let made = state.made[number].map {
            "made for \($0.token ?? "nobody") in \($0.environments.sorted())\($0.isLate ? ", late" : "")"
        }
        let view = state.view
        let account = view.account + (view.isSuspended ? ", suspended" : "")
        return "\(number) \(made ?? "unknown"), now \(view.token ?? "nobody") in \(view.environment) (\(account))"
    }
}
