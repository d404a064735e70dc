import EssentialsHTTP
import EssentialsRequests

/// The environment and the account for which a blob service loads blobs. A call takes one when it begins, and uses it
/// for its request, its key, and everything that it stores and removes.
final class BlobPlace: Sendable {
    let identity: EnvironmentIdentity
    let base: ResourceBase
    /// The account whose blobs are stored.
    let account: EntityPartition
    /// The number of this place among the places of the service.
    let number: UInt64
    /// The scope of the credentials with which the place began; `nil` for a test double of the data-request service.
    private let scope: CredentialScope?

    init(
        _ identity: EnvironmentIdentity, account: EntityPartition, number: UInt64, _ requests: any DataRequestService
    ) {
        (self.identity, self.account, self.number) = (identity, account, number)
        base = ResourceBase(identity.snapshot.baseURL)
        scope = requests.sender?.operation(in: identity, begun: .now).scope
    }

    /// Whether the environment and the credentials are still the current ones.
    func isCurrent(in environment: any EnvironmentService) -> Bool {
        identity.versioned.isCurrent(in: environment) && scope?.isCurrent != false
    }
}
