import EssentialsHTTP
import EssentialsRequests

/// Where and for whom a blob service asks for blobs. A call reads it once, when it begins: its request, its key, and what it
/// stores and removes come from it.
final class BlobPlace: Sendable {
    let identity: EnvironmentIdentity
    let base: ResourceBase
    /// The account whose blobs are stored.
    let account: EntityPartition
    /// Counts the places of a service.
    let number: UInt64
    /// The scope of the credentials in which the place began; `nil` for a test double of the data-request service.
    private let scope: CredentialScope?

    init(
        _ identity: EnvironmentIdentity, account: EntityPartition, number: UInt64, _ requests: any DataRequestService
    ) {
        (self.identity, self.account, self.number) = (identity, account, number)
        base = ResourceBase(identity.snapshot.baseURL)
        scope = requests.sender?.operation(in: identity, begun: .now).scope
    }

    /// Whether the environment and the credentials are those of now.
    func isCurrent(in environment: any EnvironmentService) -> Bool {
        identity.versioned.isCurrent(in: environment) && scope?.isCurrent != false
    }
}
