import EssentialsRequests

/// The environment that a service uses, behind one reference, because every look-up asks for it.
final class AdoptedEnvironment: Sendable {
    let versioned: VersionedSnapshot
    /// The person or tenant that the application has entered. A load stores its entity in the partition in which it began.
    let partition: EntityPartition
    /// Counts the environments that a service has adopted.
    let number: UInt64
    /// The fingerprint of the environment's trust policy; empty if it has none.
    let trustFingerprint: String

    /// The environment of now.
    init(of environment: any EnvironmentService, partition: EntityPartition = .shared, number: UInt64 = 0) {
        versioned = VersionedSnapshot(of: environment)
        (self.partition, self.number) = (partition, number)
        trustFingerprint = versioned.snapshot.trust.map { TrustFingerprint.text(of: $0) } ?? ""
    }

    var snapshot: EnvironmentSnapshot { versioned.snapshot }
}
