import EssentialsHTTP
import EssentialsRequests
import EssentialsTools
import FoundationEssentials

/// Decides whether the bytes of a response are the requested blob.
///
/// A response that no caller can decode to the value it needs, such as the page of a captive portal, must not replace a
/// stored blob.
protocol BlobReader: Sendable {
    /// The maximum number of bytes that the reader takes.
    var maximum: Int64 { get }
    /// Whether it can read the bytes.
    ///
    /// - Parameter type: The value of the `Content-Type` field; `nil` if there is none.
    func reads(_ bytes: Data, _ type: String?) async -> Bool
}

/// How one caller makes a value from a blob. The value made from a response is kept for the caller, so it is made once.
final class BlobReading<Value: Sendable>: BlobReader {
    let maximum: Int64
    private let decode: @Sendable (Data, String?) throws -> Value
    private let first = Mutex<Result<Value, any Error>?>(nil)

    /// - Parameter decode: Makes a value from the bytes and the `Content-Type` field.
    init(upTo maximum: Int, _ decode: @escaping @Sendable (Data, String?) throws -> Value) {
        self.maximum = Int64(maximum)
        self.decode = decode
    }

    func reads(_ bytes: Data, _ type: String?) async -> Bool {
        let result = await result(of: bytes, type)
        first.withLock { $0 = result }
        if case .success = result { return true }
        return false
    }

    /// The result of decoding the response, if there was one.
    func takeFirst() -> Result<Value, any Error>? { first.withLock { $0.take() } }

    /// Decodes on the global executor.
    @concurrent
    func result(of bytes: Data, _ type: String?) async -> Result<Value, any Error> {
        Result { try decode(bytes, type) }
    }
}
