import EssentialsHTTP

/// A data-request service that may have a response cache (RFC 9111), seen by services above it.
///
/// Such a cache validates what it has stored by itself, so those above it send no conditions. Each of its responses has an
/// identity (``DataResponse/identity``), and one that was stored says how it was used (``DataResponse/storedUse``).
package protocol ResponseCaching: Sendable {
    /// Whether responses are stored.
    var storesResponses: Bool { get }

    /// The responses by which the cache replaces or confirms the stored one of a URL in the background, such as after
    /// `stale-while-revalidate` (RFC 5861, 3). It ends when the last one is no longer validated, at the latest when the
    /// service is shut down.
    ///
    /// Each has an identity, and the body of the response that is stored now. One that came before this call is the first
    /// element, so that none is missed between a response and this call.
    ///
    /// - Parameter load: The number of the response that the caller has; see ``ResponseIdentity/load``. Only responses with
    ///   greater ones are of interest.
    func updates(of url: RequestURL, after load: UInt64) -> AsyncStream<DataResponse>
}

extension HTTPDataRequestService: ResponseCaching {
    package var storesResponses: Bool { settings.configuration.cache != nil }

    package func updates(of url: RequestURL, after load: UInt64) -> AsyncStream<DataResponse> {
        let configuration = settings.configuration
        return configuration.cache?.updates(of: url, after: load, configuration.clock) ?? AsyncStream { nil }
    }
}

extension DataRequestService {
    /// The responses by which the response cache replaces or confirms a response that it has served although it was stale.
    ///
    /// ```swift
    /// let response = try await requests.send(DataRequest(.get, "films"))
    /// show(response)
    /// for await newer in requests.updates(of: response) { show(newer) }
    /// ```
    ///
    /// The server is asked in the background, as `stale-while-revalidate` allows it
    /// ([RFC 5861, 3](https://www.rfc-editor.org/rfc/rfc5861#section-3)). The sequence waits for its response, has it as an
    /// element, and ends. It is empty for a response that was not stale, after a failure of the server or a status that is no
    /// success, after a logout, and without a cache. An element has another ``ResponseIdentity/load``; its body has changed
    /// only if ``ResponseIdentity/body`` has.
    ///
    /// - Parameter response: A response of this service.
    public func updates(of response: DataResponse) -> AsyncStream<DataResponse> {
        guard let caching = responseCaching, let url = response.url, let identity = response.identity else {
            return AsyncStream { nil }
        }
        let updates = caching.updates(of: url, after: identity.load)
        return AsyncStream { continuation in
            let task = Task {
                for await update in updates {
                    guard (200..<300).contains(update.status.code) else { break }
                    continuation.yield(update)
                }
                continuation.finish()
            }
            continuation.onTermination = { _ in task.cancel() }
        }
    }

    /// The service with a response cache; `nil` if neither this service nor one that it decorates stores responses.
    package var responseCaching: (any ResponseCaching)? {
        var service: any DataRequestService = self
        while true {
            if let caching = service as? any ResponseCaching { return caching.storesResponses ? caching : nil }
            guard let decorator = service as? any DataRequestDecorator else { return nil }
            service = decorator.next
        }
    }
}
