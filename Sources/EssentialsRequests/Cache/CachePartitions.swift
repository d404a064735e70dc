import EssentialsHTTP
import EssentialsStorage
import EssentialsTools
import FoundationEssentials
import Glibc

/// Makes the partitions of a service's requests.
///
/// Fingerprints and hashes are computed once for each policy and environment, because most requests of a service have the
/// same.
final class CachePartitions: Sendable {
    /// The text of a value. It is an object, because a copy of the value costs more than the comparison.
    private final class Known<Value: Equatable & Sendable>: Sendable {
        let value: Value
        let text: String

        init(_ value: Value, _ text: String) { (self.value, self.text) = (value, text) }
    }

    private struct State {
        var trust: Known<TrustPolicy>?
        var environment: Known<EnvironmentSnapshot>?
        /// The last partition, which is that of most requests.
        var last: CachePartition?
        /// Whether the values of fields with these names are secrets.
        var secretNames: [HTTPField.Name: Bool] = [:]
    }

    private static let maximumNames = 256

    /// The fingerprint of requests without a policy of their own.
    private let trust: String
    /// Where the transport sends requests. One that does not say it shares responses with no other.
    private let route: String
    /// Tells the services with interceptors apart, because what they sign is not known; empty without interceptors.
    private let signer: String
    /// Whether partitions can have names, which are the same in every process.
    private let isNameable: Bool
    let cache: ResponseCache
    /// The account of requests with a ``CacheBinding``; `nil` for those of a service.
    private let boundAccount: EntityPartition?
    private let state = Mutex(State())

    /// - Parameters:
    ///   - transport: Sends the requests.
    ///   - isSigned: Whether interceptors can sign requests.
    init(of cache: ResponseCache, over transport: any Transport, isSigned: Bool) {
        self.cache = cache
        let own = "\u{1}" + String.randomAlphanumeric(22)
        if let bearing = transport as? any TrustBearing {
            trust = TrustFingerprint.text(of: bearing.trustPolicy)
            route = bearing.route
        } else {
            (trust, route) = ("", own)
        }
        signer = isSigned ? own : ""
        // What only this process can tell apart does not outlive it.
        isNameable = transport is any TrustBearing && !isSigned
        boundAccount = nil
    }

    /// The partitions of requests with a binding. The application names the account and the trust policy, and the requests
    /// decide themselves what of that is stored.
    ///
    /// - Parameter transport: Sends the requests.
    init(over transport: any Transport, _ binding: CacheBinding) {
        (cache, boundAccount) = (binding.cache, binding.account)
        let bearing = transport as? any TrustBearing
        trust = binding.trust + "\u{1}" + (bearing.map { TrustFingerprint.text(of: $0.trustPolicy) } ?? "")
        route = bearing?.route ?? ""
        (signer, isNameable) = ("", true)
    }

    /// The partition of a hop.
    func partition(of request: TransportRequest, _ record: ExchangeRecord) -> CachePartition {
        let origin = request.url.origin
        let isOwn = !record.hasLeftOrigin && record.environment.map { $0.baseURL.origin == origin } ?? false
        var environment = ""
        if isOwn, let snapshot = record.environment { environment = text(of: snapshot) }
        var (account, field) = (CachePartition.Account.anonymous, String?.none)
        if let boundAccount { account = .named(boundAccount) }
        if let bound = record.rules.boundContent { environment += "\u{2}" + bound.variant }
        if let scope = record.submission.scope, scope.hasCredentials, scope.origin == origin, !record.hasLeftOrigin {
            if boundAccount == nil { account = scope.account.map { .named($0) } ?? .session(.init(phase: scope.phase)) }
            if case .field(let value)? = scope.content { field = value }
        }
        let cookies = record.rules.usesCookies && boundAccount == nil ? record.rules.hop(request).cookieChoice : nil
        let content = CachePartition.Content(
            trust: trust(of: request), route: route, environment: environment, account: account,
            secrets: secrets(of: request, besides: field, record), cookies: cookies,
            session: cookies.map { cache.session(of: origin.host, $0) } ?? 0)
        if let last = state.withLock({ $0.last }), last.content == content { return last }
        let partition = CachePartition(content, cache.options, name: name(of: content))
        // The storage of cookies of the former one can end with it, outside the lock.
        let former = state.withLock { state in
            defer { state.last = partition }
            return state.last
        }
        _ = consume former
        return partition
    }

    /// The name of a partition in every process; `nil` if it must not outlive this one. The credentials of a scope without an
    /// account, and the cookies of a storage, do not say for whom they are in another process.
    private func name(of content: CachePartition.Content) -> String? {
        guard isNameable, content.cookies == nil else { return nil }
        let account: String
        switch content.account {
        case .session: return nil
        case .anonymous: account = ""
        case .named(let partition): account = "\u{1}" + partition.name
        }
        var writer = ByteWriter()
        for text in [content.trust, content.route, content.environment, account] + Self.systemAnchors {
            writer.append(text: text)
        }
        writer.append(content.secrets)
        return Data(writer.bytes).base64EncodedString()
    }

    /// Where the environment of the process says that anchors are, which another process may not trust.
    private static let systemAnchors = ["SSL_CERT_FILE", "SSL_CERT_DIR"].map { (name: String) -> String in
        getenv(name).map { String(cString: $0) } ?? ""
    }

    private func trust(of request: TransportRequest) -> String {
        guard let policy = request.options.trust else {
            // The transport leaves its client certificate out.
            return request.isForAnyServer ? trust + "\u{1}any" : trust
        }
        if let known = state.withLock({ $0.trust }), known.value == policy { return known.text }
        // What the application says of its transport holds for every policy.
        let text = (boundAccount == nil ? "" : trust + "\u{1}") + TrustFingerprint.text(of: policy)
        state.withLock { $0.trust = Known(policy, text) }
        return text
    }

    private func text(of environment: EnvironmentSnapshot) -> String {
        if let known = state.withLock({ $0.environment }), known.value == environment { return known.text }
        let identity = EnvironmentIdentity(of: ConstantEnvironment(environment))
        let text = identity.text(environment.name, key: cache.store.fingerprintKey) + signer
        state.withLock { $0.environment = Known(environment, text) }
        return text
    }

    /// The fields that interceptors may have added or replaced. What they say, such as a tenant, can be about an account that
    /// no `Vary` names.
    private func added(to record: ExchangeRecord) -> Set<HTTPField.Name> {
        signer.isEmpty && boundAccount == nil ? [] : record.rules.redirects.sensitiveFields
    }

    /// A hash of the fields with secret names, such as an own `Authorization` or `X-Api-Key`, and of those that interceptors
    /// have added; zero without them.
    ///
    /// - Parameter credentials: The value of `Authorization` that belongs to the scope of the request, which is a part of the
    ///   partition already.
    private func secrets(
        of request: TransportRequest, besides credentials: String?, _ record: ExchangeRecord
    ) -> UInt128 {
        let added = added(to: record)
        var writer: ByteWriter?
        if let bound = record.rules.boundContent, bound.url != request.url {
            // An interceptor has added something to the URL.
            var bytes = ByteWriter()
            bytes.append(text: request.url.description)
            writer = bytes
        }
        for field in request.headerFields
        where isSecret(field.name) || added.contains(field.name) && !HTTPFields.isTrace(field.name) {
            if field.name == .authorization, let credentials, field.value == credentials { continue }
            var bytes = writer ?? ByteWriter()
            bytes.append(text: field.name.canonicalName)
            field.withUnsafeBytesOfValue { bytes.append(counted: UnsafeRawBufferPointer($0)) }
            writer = bytes
        }
        // Never zero, which means that there is nothing secret.
        return writer.map { cache.store.fingerprintKey.hash(of: $0.bytes) | 1 } ?? 0
    }

    /// What stands for the value of a field in a stored response: a hash for a secret, such as a cookie, if the responses of
    /// the partition outlive the process although secrets are sent.
    func storable(_ value: String?, of name: HTTPField.Name) -> String? {
        guard let value, boundAccount != nil, isSecret(name) else { return value }
        return String(cache.store.fingerprintKey.hash(of: Array(value.utf8)), radix: 16)
    }

    /// Whether fields have names of secrets.
    func hasSecrets(_ fields: HTTPFields) -> Bool { fields.contains { isSecret($0.name) } }

    func isSecret(_ name: HTTPField.Name) -> Bool {
        switch name {
        case .accept, .userAgent, .acceptLanguage, .ifNoneMatch, .ifModifiedSince, .cacheControl: return false
        case .authorization, .cookie, .proxyAuthorization: return true
        default: break
        }
        if let known = state.withLock({ $0.secretNames[name] }) { return known }
        let isSecret = SecretName.isSecret(name.canonicalName, .stored)
        state.withLock { state in
            if state.secretNames.count >= Self.maximumNames { state.secretNames = [:] }
            state.secretNames[name] = isSecret
        }
        return isSecret
    }
}
