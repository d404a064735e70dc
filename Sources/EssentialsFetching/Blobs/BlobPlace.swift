import EssentialsHTTP
import EssentialsRequests

/// The environment and the account for which a blob service loads blobs. A call takes one when it begins, and uses it
/// for its request and everything that it stores.
final class BlobPlace: Sendable {
    let identity: EnvironmentIdentity
    let base: ResourceBase
    /// The account whose blobs are stored.
    let account: EntityPartition
    /// The directory, for the requests of the account.
    let binding: CacheBinding
    /// The scope of the credentials with which the place began; `nil` for a test double of the data-request service.
    private let scope: CredentialScope?

    init(
        _ environment: any EnvironmentService, _ account: EntityPartition, _ binding: CacheBinding,
        _ requests: any DataRequestService
    ) {
        identity = EnvironmentIdentity(of: environment)
        (self.account, self.binding) = (account, binding)
        base = ResourceBase(identity.snapshot.baseURL)
        scope = requests.sender?.operation(in: identity, begun: .now).scope
    }

    /// Whether the environment and the credentials are still the current ones.
    func isCurrent(in environment: any EnvironmentService) -> Bool {
        identity.versioned.isCurrent(in: environment) && scope?.isCurrent != false
    }
}
