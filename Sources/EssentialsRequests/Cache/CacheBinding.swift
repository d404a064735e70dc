import EssentialsTools

/// A response cache that requests bring along, whose service may have another one or none.
///
/// The requests get what is stored as an open file instead of a body, and what is not stored yet is offered to them: they
/// store it themselves when they have read and judged it. See ``FileCache``.
package final class CacheBinding: Sendable {
    let cache: ResponseCache
    /// The account whose responses are stored and found.
    let account: EntityPartition
    /// Names the trust policy of a transport that does not tell it.
    let trust: String
    /// What distinguishes the responses from others at their URLs.
    let variant: String
    /// What the services have in common for all their requests, for each chain that has sent one.
    private let known = Mutex<[Known]>([])

    private struct Known {
        weak var stage: CacheStage?
        let partitions: CachePartitions
    }

    /// - Parameters:
    ///   - account: The account whose responses are stored and found.
    ///   - trust: Names the trust policy of a transport that does not tell it.
    package convenience init(to files: FileCache, account: EntityPartition, trust: String) {
        self.init(files.cache, account, trust, "")
    }

    private init(_ cache: ResponseCache, _ account: EntityPartition, _ trust: String, _ variant: String) {
        (self.cache, self.account, self.trust, self.variant) = (cache, account, trust, variant)
    }

    /// The same binding for responses that differ from others at their URLs.
    ///
    /// - Parameter variant: The difference, such as header fields. It is stored, so it contains no secrets.
    package func varying(_ variant: String) -> CacheBinding { CacheBinding(cache, account, trust, variant) }

    /// The partitions of the requests that a stage sends.
    func partitions(of stage: CacheStage, make: () -> CachePartitions) -> CachePartitions {
        known.withLock { known in
            if let found = known.first(where: { $0.stage === stage }) { return found.partitions }
            known.removeAll { $0.stage == nil }
            let partitions = make()
            known.append(Known(stage: stage, partitions: partitions))
            return partitions
        }
    }
}
