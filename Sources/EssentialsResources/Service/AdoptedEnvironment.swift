import EssentialsRequests

/// The environment that a service uses, behind one reference, because every look-up asks for it.
final class AdoptedEnvironment: Sendable {
    let versioned: VersionedSnapshot

    /// The environment of now.
    init(of environment: any EnvironmentService) { versioned = VersionedSnapshot(of: environment) }

    var snapshot: EnvironmentSnapshot { versioned.snapshot }
}
