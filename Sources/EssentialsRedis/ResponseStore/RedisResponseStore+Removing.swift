import EssentialsHTTP
public import EssentialsRequests
public import EssentialsTransport

extension RedisResponseStore {
    /// Invalidates a URL in all partitions and processes. It returns when the server has the invalidation, however long that
    /// takes.
    public func invalidate(_ url: RequestURL) async {
        await raise(space.epoch(of: url))
    }

    /// Removes the responses of a scope in all processes. It returns when the server has removed them, however long that
    /// takes. For a scope with `ResponseScope.matches` it looks at all stored responses, and if the server does not allow that,
    /// it removes those with other URLs too.
    public func remove(in scope: ResponseScope) async {
        guard scope.matches != nil, await removeMatching(scope) else { return await removeWhole(scope) }
    }

    /// Removes the responses of a scope, whatever their URLs are.
    private func removeWhole(_ scope: ResponseScope) async {
        switch (scope.accounts, scope.origin) {
        case (nil, nil): await raise(space.everything, isLasting: true)
        case (nil, let origin?): await raise(space.generation(of: origin), isLasting: true)
        case (let accounts?, nil): for account in accounts { await raise(space.generation(of: account)) }
        case (let accounts?, let origin?):
            for account in accounts { await raise(space.generation(of: account, at: origin)) }
        }
    }

    private func raise(_ name: String, isLasting: Bool = false) async {
        await client.change([name]) { RedisCommand(Self.raising(name, isLasting: isLasting)) }
    }

    /// Removes responses by their URLs, which only the values contain.
    ///
    /// - Returns: `false` if the server does not allow to look at all keys.
    private func removeMatching(_ scope: ResponseScope) async -> Bool {
        // What was asked for before is not stored any more.
        await raise(space.removals, isLasting: true)
        let accounts = scope.accounts.map { Set($0.map { space.number(of: $0) }) }
        var (cursor, isSame) = ("0", true)
        repeat {
            let scan = RedisCommand(
                "SCAN", .text(cursor), "MATCH", .text(space.responses + "{*}:" + Self.anyHash), "COUNT", "500")
            let connection = client.writeConnections
            guard case .array(let parts) = await client.asked(scan), parts.count == 2, case .bytes(let next) = parts[0],
                case .array(let found) = parts[1]
            else { return false }
            for case .bytes(let name) in found {
                await remove(String(decoding: name, as: UTF8.self), ifIn: scope, accounts)
            }
            // A cursor means nothing to another process of the server, so that the look begins anew.
            isSame = connection == client.writeConnections
            cursor = isSame ? String(decoding: next, as: UTF8.self) : "0"
        } while cursor != "0" || !isSame
        return true
    }

    /// Removes a list if its responses belong to a scope, or cannot be read.
    private func remove(_ name: String, ifIn scope: ResponseScope, _ accounts: Set<UInt128>?) async {
        switch await client.asked(RedisCommand("GET", .text(name))) {
        case .bytes(let value) where StoredList(value).map { !Self.isIn(scope, accounts, $0) } ?? false: break
        default: await client.change([name]) { RedisCommand("DEL", .text(name)) }
        }
    }

    private static let anyHash = String(repeating: "[0-9a-f]", count: 32)

    private static func isIn(_ scope: ResponseScope, _ accounts: Set<UInt128>?, _ list: StoredList) -> Bool {
        guard let url = try? RequestURL(list.url) else { return true }
        if let origin = scope.origin, url.origin != origin { return false }
        if let accounts, !accounts.contains(list.account) { return false }
        return scope.matches?(url) ?? true
    }
}
