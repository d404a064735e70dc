import EssentialsHTTP

/// A data-request service that may have a response cache (RFC 9111), seen by services above it.
package protocol ResponseCaching: Sendable {
    /// Whether responses are stored.
    var storesResponses: Bool { get }

    /// The responses by which the cache replaces the stored one of a URL in the background, such as after
    /// `stale-while-revalidate` (RFC 5861, 3). It ends when the cache is closed.
    func updates(of url: RequestURL) -> AsyncStream<DataResponse>
}

extension DataRequestService {
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
