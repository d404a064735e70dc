import EssentialsRequests

/// The environment, the account and the credentials of a service, behind one reference, because every look-up needs
/// them.
///
/// An operation takes one when it begins, such as a load, a write, a loop over pages, a cache read or a followed
/// stream. It uses it for all requests, keys, saves and removals, even if other accounts or credentials are set
/// meanwhile.
final class AdoptedEnvironment: Sendable {
    let identity: EnvironmentIdentity
    /// The account that the application has entered. A load stores its entity in the partition in which it began.
    let partition: EntityPartition
    /// The number of this environment and account among those that the service has adopted.
    let number: UInt64
    /// The operation's credentials; `nil` if the data-request service is a test double.
    private let context: OperationContext?

    /// Creates it from the current environment.
    convenience init(of environment: any EnvironmentService, partition: EntityPartition = .shared) {
        self.init(EnvironmentIdentity(of: environment), partition: partition, number: 0)
    }

    init(
        _ identity: EnvironmentIdentity, partition: EntityPartition, number: UInt64, context: OperationContext? = nil
    ) {
        (self.identity, self.partition, self.number, self.context) = (identity, partition, number, context)
    }

    /// Returns the same environment and account in another scope of credentials.
    func entering(_ context: OperationContext) -> AdoptedEnvironment {
        AdoptedEnvironment(identity, partition: partition, number: number, context: context)
    }

    var versioned: VersionedSnapshot { identity.versioned }
    var snapshot: EnvironmentSnapshot { identity.snapshot }
    /// The fingerprint of the environment's trust policy; empty if it has none.
    var trustFingerprint: String { identity.trustFingerprint }
    /// The scope of the credentials of the environment's origin.
    var scope: CredentialScope? { context?.scope }

    /// Whether the credentials were cleared or replaced. Operations that began with them then send, show and store
    /// nothing any more.
    var hasEnded: Bool { scope?.hasEnded ?? false }

    /// Whether the entities of the account may be read, written and removed. After other credentials were set, this is
    /// not allowed until the account is entered again.
    var admitsEntities: Bool {
        guard let context else { return true }
        return !context.hasEnded && context.admits(partition)
    }

    /// - Throws: `authorization` if the credentials were cleared or replaced since.
    func checkCredentials() throws(RequestFailure) {
        guard hasEnded else { return }
        throw CredentialScope.endedFailure(host: snapshot.baseURL.origin.host.text)
    }
}
