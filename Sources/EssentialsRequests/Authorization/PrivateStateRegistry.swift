public import EssentialsHTTP

/// A data-request service that clears further private state together with its credentials.
///
/// ``HTTPDataRequestService`` is one. What stores private state above a service, such as a cache of decoded values, joins
/// it when it is created, and needs no line in the service's configuration:
///
/// ```swift
/// final class ProfileCache: PrivateStateStore {
///     init(requests: any DataRequestService) throws(RequestFailure) {
///         try requests.privateStateRegistry?.add(privateStateStore: self)
///     }
///
///     func clearPrivateState(of origin: Origin) async { await profiles.removeAll() }
/// }
/// ```
public protocol PrivateStateRegistry: Sendable {
    /// Adds a store that ``AuthorizationService/clearAuthorization()`` clears from now on, after those of the
    /// configuration and in the order of joining.
    ///
    /// The store is held weakly, so that it can be released at any time. Adding it again changes nothing. Add it before it
    /// stores anything: a clearing that has begun does not wait for stores that join later.
    ///
    /// - Throws: `resources` if ``HTTPDataRequestService/privateStateStoreLimit`` stores have joined that are still alive.
    func add(privateStateStore store: any PrivateStateStore & AnyObject) throws(RequestFailure)
}

extension HTTPDataRequestService: PrivateStateRegistry {
    /// The maximum number of living stores that may join a service with ``add(privateStateStore:)``: 1,024.
    public static let privateStateStoreLimit = 1_024

    /// Adds a store that ``clearAuthorization()`` clears from now on; see the protocol.
    public func add(privateStateStore store: any PrivateStateStore & AnyObject) throws(RequestFailure) {
        try privateState.add(store)
    }

    /// The object that holds the joined stores. A store remembers it to know which services it has joined, because a weak
    /// reference to the service itself would slow down each use of the service.
    package var privateStateMembers: any AnyObject & Sendable { privateState }
}

extension DataRequestService {
    /// The registry for private state that belongs to the credentials of this service's requests: the service itself or,
    /// for a ``DataRequestDecorator``, the service that sends its requests. It is `nil` for a service without
    /// credentials, such as most test doubles.
    public var privateStateRegistry: (any PrivateStateRegistry)? {
        var service: any DataRequestService = self
        while true {
            if let registry = service as? any PrivateStateRegistry { return registry }
            guard let decorator = service as? any DataRequestDecorator else { return nil }
            service = decorator.next
        }
    }
}
