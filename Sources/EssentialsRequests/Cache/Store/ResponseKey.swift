import EssentialsHTTP
import EssentialsStorage
public import EssentialsTransport

/// The key of the stored responses of one URL: for whom, and under which trust, they were fetched. Which of them a request gets
/// is decided by their `Vary`.
///
/// It is an object, because several tables hold it, and its hash is computed once.
public final class ResponseKey: Sendable, Hashable {
    let owner: CachePartition
    /// The URL.
    public let url: RequestURL
    /// The hash of the URL in this process, which divides the responses of all partitions.
    let urlHash: Int

    init(owner: CachePartition, url: RequestURL) {
        (self.owner, self.url) = (owner, url)
        urlHash = url.hashValue
    }

    /// For whom, where and under which trust the response was fetched, as a text; `nil` if the responses must not outlive the
    /// process, because nothing tells their account in another one. A store outside the process then keeps nothing.
    ///
    /// It contains the name of the account and of the environment. Secrets are in it as hashes with
    /// ``ResponseStore/fingerprintKey``.
    public var partition: String? { owner.name }

    /// The account that the application has named; `nil` without one.
    public var account: EntityPartition? { if case .named(let account) = owner.account { account } else { nil } }

    /// Whether the partition contains a hash of secrets that the request itself has, such as a key of an API.
    package var hasSecrets: Bool { owner.content.secrets != 0 }

    /// A hash by which an evicted response is known if it returns.
    var fingerprint: Int { urlHash &* 31 &+ owner.number }

    /// Whether the credentials of its requests were cleared or replaced. Nothing is ever found under it again.
    public var hasEnded: Bool { owner.hasEnded }

    /// The options with which stored heads are read.
    var options: CacheOptions { owner.options }

    /// The partition and the URL, by which a stored head shows that it belongs to the key.
    var bytes: [UInt8] {
        var writer = ByteWriter()
        writer.append(text: owner.name ?? "")
        writer.append(text: url.description)
        return writer.bytes
    }

    /// The URL in ``bytes``; `nil` if they are not of a key.
    static func url(in bytes: [UInt8]) -> RequestURL? {
        bytes.withUnsafeBytes { bytes in
            var reader = ByteReader(bytes)
            guard reader.text() != nil, let text = reader.text() else { return nil }
            return try? RequestURL(text)
        }
    }

    /// Whether both are for the same requests.
    public static func == (one: ResponseKey, other: ResponseKey) -> Bool {
        one === other || one.urlHash == other.urlHash && one.owner == other.owner && one.url == other.url
    }

    /// Hashes the key, without hashing the URL again.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(urlHash)
        hasher.combine(owner.number)
    }
}
