import EssentialsHTTP
import FoundationEssentials

/// Serves stored responses and stores new ones, as the rules of HTTP allow it. The rules decide, and the stage acts.
///
/// The stage is below the redirects, so that each hop is looked up by itself, and above the retries, so that the server is
/// asked again before a stale response is served instead of a failure.
final class CacheStage: Stage {
    /// The cache of the service with the partitions of its requests; `nil` without one.
    private let own: CachePartitions?
    private let transport: any Transport
    let clock: RequestClock
    let background: BackgroundValidations
    let next: RemainingStages

    /// - Parameter transport: Sends the requests.
    init(
        _ configuration: HTTPDataRequestService.Configuration, over transport: any Transport,
        _ background: BackgroundValidations, next: RemainingStages
    ) {
        let isSigned = !configuration.interceptors.isEmpty
        own = configuration.cache.map { CachePartitions(of: $0, over: transport, isSigned: isSigned) }
        (self.transport, self.background) = (transport, background)
        clock = configuration.clock
        self.next = next
    }

    func isUsed(by request: TransportRequest, _ record: ExchangeRecord) -> Bool {
        own != nil || record.rules.boundContent != nil
    }

    /// The cache that a request uses, with the partitions of its requests.
    private func partitions(_ record: ExchangeRecord) -> CachePartitions? {
        guard let binding = record.rules.boundContent?.binding else { return own }
        return binding.partitions(of: self) { CachePartitions(over: transport, binding) }
    }

    /// Whether the cache of the service answers all requests that it can.
    private var isOffline: Bool { own?.cache.isOffline ?? false }

    func send(
        _ request: TransportRequest, _ record: ExchangeRecord
    ) async throws(RequestFailure) -> TransportResponse {
        guard let partitions = partitions(record) else { return try await next.send(request, record) }
        let cache = partitions.cache
        guard request.method == .get || request.method == .head, request.body.isEmpty else {
            try request.refuseIfOnlyStored("responses to it are not stored")
            return request.method.isSafe
                ? try await next.send(request, record) : try await change(request, record, cache)
        }
        // A request that a token provider sends has no token. Its response does not belong to the account, and it must not
        // wait for a validation that itself waits for the token.
        let isOfProvider = record.rules.tokens?.source.isCalledHere == true
        let isBound = record.rules.boundContent != nil
        guard record.rules.cachePolicy != .bypass && !isOfProvider || isOffline && !isBound else {
            if isOffline { throw CacheExchange.unavailable(request, isOffline: true) }
            try request.refuseIfOnlyStored("it goes past the cache")
            return try await passing(request, record, cache)
        }
        let lookup = CacheStageLookup(request, record, partitions, isOffline: isOffline, next)
        var (request, hasWaited) = (request, false)
        while true {
            let stored = await cache.store.lookup(lookup.key)
            let exchange = CacheExchange(self, lookup, stored, request, record)
            // Nothing stored is served if the credentials were cleared during the lookup.
            try record.cancellation.check(host: request.hostText)
            try record.submission.check(request)
            if let response = try await exchange.response(&hasWaited) { return response }
            request = try record.deadline.limited(
                request, between: "the validation of another request and its own sending",
                after: "it had waited for that validation")
        }
    }

    /// Sends a request that goes past the cache.
    private func passing(
        _ request: TransportRequest, _ record: ExchangeRecord, _ cache: ResponseCache
    ) async throws(RequestFailure) -> TransportResponse {
        let number = cache.nextNumber()
        let response = try await next.send(request, record)
        record.cacheFacts = CacheFacts(
            CacheUse(.bypassed, CacheStatus(forwarded: .bypass, status: response.statusCode)),
            ResponseIdentity(load: number, body: number))
        return response
    }

    /// Sends a request that may change what is stored, such as a POST.
    private func change(
        _ request: TransportRequest, _ record: ExchangeRecord, _ cache: ResponseCache
    ) async throws(RequestFailure) -> TransportResponse {
        let number = cache.nextNumber()
        let response: TransportResponse
        do throws(RequestFailure) {
            response = try await next.send(request, record)
        } catch {
            // The server may have processed the request although no response has come.
            if error.transmission != .unsent { await cache.store.invalidate(request.url) }
            throw error
        }
        // Only the method, the URL and the response matter.
        let lookup = CacheRequest(method: request.method, url: request.url, fields: [:])
        let now = clock.moment
        let disposition = CacheRules.disposition(
            of: response.head, to: lookup, conditions: [:], stored: [], requestedAt: now, now: now, sent: { _ in nil },
            isUnpacked: false, options: cache.options)
        if case .invalidate(let urls) = disposition { for url in urls { await cache.store.invalidate(url) } }
        record.cacheFacts = CacheFacts(
            CacheUse(.bypassed, CacheStatus(forwarded: .method, status: response.statusCode)),
            ResponseIdentity(load: number, body: number))
        return response
    }
}

/// The key of a hop, and the request as the rules see it.
struct CacheStageLookup {
    let key: ResponseKey
    let request: CacheRequest
    let partitions: CachePartitions
    let isOffline: Bool

    /// - Parameters:
    ///   - isOffline: Whether the server must not be asked.
    ///   - next: The stages that send the request.
    init(
        _ request: TransportRequest, _ record: ExchangeRecord, _ partitions: CachePartitions, isOffline: Bool,
        _ next: RemainingStages
    ) {
        let key =
            record.bound?.key
            ?? ResponseKey(
                owner: partitions.partition(of: request, record), url: record.rules.boundContent?.url ?? request.url)
        if record.rules.boundContent != nil, record.bound == nil { record.bound = BoundExchange(key) }
        self.init(key, request, record, partitions, isOffline: isOffline, next)
    }

    init(
        _ key: ResponseKey, _ request: TransportRequest, _ record: ExchangeRecord, _ partitions: CachePartitions,
        isOffline: Bool, _ next: RemainingStages
    ) {
        (self.key, self.partitions, self.isOffline) = (key, partitions, isOffline)
        self.request = CacheRequest(
            method: request.method, url: request.url, fields: request.headerFields, policy: record.rules.cachePolicy,
            decompresses: request.options.decompresses
        ) { name in
            Self.constant(name, request, key, partitions)
                ?? partitions.storable(next.fieldToCome(name, request, record), of: name)
        }
    }

    /// The value by which a stored response is selected for a field that was sent.
    func selecting(_ name: HTTPField.Name, _ request: TransportRequest, in sent: HTTPFields) -> String? {
        Self.constant(name, request, key, partitions) ?? partitions.storable(sent.joined(name), of: name)
    }

    /// The value that stands for a field in the selection of a stored response; `nil` for most fields.
    ///
    /// Credentials and other secrets are a part of the partition. The codings that the transport accepts are always the same.
    static func constant(
        _ name: HTTPField.Name, _ request: TransportRequest, _ key: ResponseKey, _ partitions: CachePartitions
    ) -> String? {
        switch name {
        case .authorization where key.owner.account != .anonymous || request.headerFields.contains(.authorization):
            "partition"
        case .acceptEncoding where !request.headerFields.contains(.acceptEncoding): "transport"
        // Own cookies and those of a storage are sent together.
        case .cookie where key.owner.content.cookies != nil: nil
        // A secret of the request itself is a part of the partition, and must not be stored.
        default: request.headerFields.contains(name) && partitions.isSecret(name) ? "partition" : nil
        }
    }
}
