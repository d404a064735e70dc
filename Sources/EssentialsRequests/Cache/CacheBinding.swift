import EssentialsHTTP
import EssentialsTools
package import EssentialsTransport

/// A response cache that requests bring along, whose service may have another one or none.
///
/// A stored response reaches such a request as an open file, without a body. A new response is not stored by the stage: the
/// request reads the body, decides whether it is good, and then stores it. See ``FileCache``.
package final class CacheBinding: Sendable {
    let cache: ResponseCache
    /// The account whose responses are stored and found.
    let account: EntityPartition
    /// Names the trust policy of a transport that does not tell it.
    let trust: String
    /// What the services have in common for all their requests, for each chain that has sent one.
    private let known = Mutex<[Known]>([])

    private struct Known {
        weak var stage: CacheStage?
        let partitions: CachePartitions
    }

    /// - Parameters:
    ///   - account: The account whose responses are stored and found.
    ///   - trust: Names the trust policy of a transport that does not tell it.
    package init(to files: FileCache, account: EntityPartition, trust: String) {
        (cache, self.account, self.trust) = (files.cache, account, trust)
    }

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

/// What a request with a ``CacheBinding`` looks for. It is an object, because few requests have it.
package final class BoundContent: Sendable {
    let binding: CacheBinding
    /// The URL under which the response is stored, wherever redirects and interceptors lead to.
    let url: RequestURL
    /// What distinguishes the response from others at the URL.
    let variant: String

    /// - Parameters:
    ///   - url: The URL under which the response is stored.
    ///   - variant: What distinguishes the response from others at the URL, such as header fields. It is stored, so it
    ///     contains no secrets.
    package init(_ binding: CacheBinding, at url: RequestURL, variant: String) {
        (self.binding, self.url, self.variant) = (binding, url, variant)
    }
}

/// What is kept for all hops of a request for bound content. It is an object, because few requests have it.
final class BoundExchange {
    let key: ResponseKey
    /// Whether an attempt had credentials or other secrets.
    var hadSecrets = false

    init(_ key: ResponseKey) { self.key = key }
}
