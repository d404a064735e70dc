import EssentialsHTTP
package import EssentialsTransport
import FoundationEssentials

// What the suite for stores puts into them.

extension ResponseKey {
    /// A key of a service over a transport with a trust policy.
    ///
    /// - Parameters:
    ///   - account: `nil` for requests without credentials.
    ///   - trust: Tells trust policies apart.
    ///   - isNamed: Whether the partition has a name in every process.
    package static func sample(
        _ url: RequestURL, account: EntityPartition? = nil, trust: String = "", isNamed: Bool = true
    ) -> ResponseKey {
        let content = CachePartition.Content(
            trust: trust, route: "", environment: "", account: account.map { .named($0) } ?? .anonymous, secrets: 0,
            cookies: nil, session: 0)
        let name = "\(trust)\u{1}\(account.map { "\u{2}" + $0.name } ?? "")"
        return ResponseKey(owner: CachePartition(content, CacheOptions(), name: isNamed ? name : nil), url: url)
    }
}

extension StoredResponse {
    /// A response that was fetched now, and is fresh for an hour.
    ///
    /// - Parameters:
    ///   - load: The number of its request.
    ///   - body: The number of its body.
    ///   - language: What `Vary: Accept-Language` selects it by; `nil` for a response without `Vary`.
    package static func sample(load: UInt64, body: UInt64, language: String? = nil, tag: String = "t") -> StoredResponse
    {
        var fields: HTTPFields = [.cacheControl: "max-age=3600", .eTag: "\"\(tag)\""]
        var selection = VarySelection.empty
        if let language {
            fields[.vary] = "accept-language"
            selection = VarySelection([.init(name: .acceptLanguage, value: language)])
        }
        let head = StoredHead(
            status: .ok, fields: fields, selection: selection, age: .zero, moment: RequestClock.system.moment,
            isUnpacked: false, options: CacheOptions())
        return StoredResponse(
            head: head, identity: ResponseIdentity(load: load, body: body), isPersonal: false)
    }

    /// The entity tag that tells samples apart.
    package var sampleTag: String? { head.fields[.eTag] }
}

extension ResponseCache {
    /// The store, as the stage uses it.
    package var stageStore: any ResponseStore { store }
}
