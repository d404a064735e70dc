/// A snapshot of an environment that can tell cheaply whether the environment has changed since.
///
/// ```swift
/// var kept = VersionedSnapshot(of: environment)
/// // on each use:
/// if !kept.isCurrent(in: environment) { kept = VersionedSnapshot(of: environment) }
/// let base = kept.snapshot.baseURL
/// ```
///
/// If the environment has a ``EnvironmentService/version``, the check reads one number and takes no lock. Otherwise it
/// reads the environment's snapshot and compares it.
public struct VersionedSnapshot: Sendable {
    /// The environment at one moment.
    public let snapshot: EnvironmentSnapshot
    /// The version of the environment just before the snapshot was read; `nil` if the environment has none.
    ///
    /// If the environment changed between the two, the snapshot is newer than this version. ``isCurrent(in:)`` then
    /// returns `false` once too often, and never `true` for an old snapshot.
    public let version: UInt64?

    /// Reads the version of an environment, and then its snapshot.
    public init(of environment: any EnvironmentService) {
        version = environment.version
        snapshot = environment.snapshot
    }

    /// Whether the environment has not changed since the snapshot was read.
    ///
    /// - Parameter environment: The environment from which the snapshot was read.
    public func isCurrent(in environment: any EnvironmentService) -> Bool {
        if let version { environment.version == version } else { environment.snapshot == snapshot }
    }
}
