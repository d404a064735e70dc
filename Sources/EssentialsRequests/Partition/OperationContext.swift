package import EssentialsHTTP

/// Where and for whom an operation runs, read once when it begins: the requests, the keys, the saves and the deletions of
/// the operation all come from it.
///
/// An operation is an iteration of a sequence, a load, a write or a transfer. What changes while it runs, such as the
/// environment or the credentials, is for later operations.
package struct OperationContext: Sendable {
    /// When the operation began. It was read before everything else, so that what is cleared afterwards stays cleared.
    package let begun: Epoch
    /// The environment.
    package let environment: EnvironmentIdentity
    /// The scope of the credentials.
    package let scope: CredentialScope
    private let service: HTTPDataRequestService
    private let sessionNumber: UInt64

    /// Begins with the present credentials.
    init(begun: Epoch, environment: EnvironmentIdentity, service: HTTPDataRequestService) {
        (self.begun, self.environment) = (begun, environment)
        // First, so that what ends while the scope is read has ended since.
        sessionNumber = service.authorization.sessionNumber
        scope = service.authorization.scope(for: environment.snapshot.baseURL.origin)
        self.service = service
    }

    /// Whether the credentials were cleared or replaced since, so that nothing is read or stored any more.
    package var hasEnded: Bool { scope.hasEnded }

    /// Whether credentials were cleared or replaced since, at any origin. A request can have had those of another origin than
    /// the environment's, and those that were set after it was submitted without any.
    package var hasAnySessionEnded: Bool { service.authorization.sessionNumber != sessionNumber }

    /// Whether the stores of an account may be read and written. They may not after other credentials were set, until the
    /// account is entered again. The shared account is never suspended.
    package func admits(_ account: EntityPartition) -> Bool { service.admits(account, in: scope) }
}

extension DataRequest {
    /// The request of an operation: it is sent in the environment and with the credentials of the operation, or not at all.
    ///
    /// It fails as `cancelled` if the environment has changed since, and as `authorization` if the credentials were cleared
    /// or replaced. A request with a base of its own keeps that.
    package func bound(to operation: OperationContext?) -> DataRequest {
        guard let operation else { return self }
        var request = self
        request.scope = operation.scope
        if request.base == .environment { request.base = .pinned(to: operation.environment.snapshot) }
        return request
    }
}

extension DataRequestService {
    /// The service below all decorators; `nil` if it is a test double.
    package var sender: HTTPDataRequestService? {
        var service: any DataRequestService = self
        while true {
            if let http = service as? HTTPDataRequestService { return http }
            guard let decorator = service as? any DataRequestDecorator else { return nil }
            service = decorator.next
        }
    }

    /// Begins an operation with the environment and the credentials of now; `nil` for a test double, which has neither.
    package func beginOperation() -> OperationContext? { sender?.operation() }
}

extension HTTPDataRequestService {
    /// The context of an operation that begins now.
    package func operation() -> OperationContext {
        let begun = Epoch.now
        return OperationContext(begun: begun, environment: environmentIdentity, service: self)
    }

    /// The context of an operation in a certain environment, such as one that the caller has adopted.
    package func operation(in environment: EnvironmentIdentity, begun: Epoch) -> OperationContext {
        OperationContext(begun: begun, environment: environment, service: self)
    }

    func admits(_ account: EntityPartition, in scope: CredentialScope) -> Bool {
        authorization.admits(account.name, in: scope)
    }

    /// Enters an account: what stores hold for it is read and written again, with the present credentials of the origin of
    /// the current environment.
    ///
    /// ```swift
    /// requests.setAuthorization(try .bearer(token))
    /// requests.enter(EntityPartition(account.id))
    /// ```
    ///
    /// Credentials that replace others, and a logout, suspend the accounts that were used before, because the new
    /// credentials may be those of somebody else. Resource services, outboxes and blob services do this in their own
    /// `enter`. Call it for accounts of a `FetchingService` that logs in again.
    public func enter(_ account: EntityPartition) {
        let origin = currentEnvironment.baseURL.origin
        let wasSuspended = !authorization.admits(account.name, in: authorization.scope(for: origin))
        authorization.enter(account.name, at: origin)
        if wasSuspended { privateState.accountWasEntered(account, at: origin) }
    }
}

/// A store that notifies observers of what it keeps for accounts.
package protocol AccountFollower: PrivateStateStore {
    /// An account that was suspended by other credentials was entered again, so that what is kept for it can be read. It is
    /// called on the thread that has entered it, after that.
    func accountWasEntered(_ account: EntityPartition, at origin: Origin)
}
