import EssentialsHTTP
import EssentialsRequests
import EssentialsTools
import FoundationEssentials

/// Decides whether the bytes of a response are the blob that somebody has asked for.
///
/// What nobody can read who wants a value, such as the page of a captive portal, must not replace a blob that is stored.
protocol BlobReader: Sendable {
    /// The maximum number of bytes that the reader takes.
    var maximum: Int64 { get }
    /// Whether it can read the bytes.
    ///
    /// - Parameter type: The value of the `Content-Type` field; `nil` if there is none.
    func reads(_ bytes: Data, _ type: String?) async -> Bool
}

/// How one caller makes a value of a blob. What it made of a response is kept for the caller, so that it is made once.
final class BlobReading<Value: Sendable>: BlobReader {
    let maximum: Int64
    private let decode: @Sendable (Data, String?) throws -> Value
    private let first = Mutex<Result<Value, any Error>?>(nil)

    /// - Parameter decode: Makes the value of the bytes and the value of the `Content-Type` field.
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

    /// What was made of the response, if there was one.
    func takeFirst() -> Result<Value, any Error>? { first.withLock { $0.take() } }

    /// Decodes on the global executor.
    @concurrent
    func result(of bytes: Data, _ type: String?) async -> Result<Value, any Error> {
        Result { try decode(bytes, type) }
    }
}
