#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

/// A piece of a streamed body: bytes that nobody changes any more. Copying costs one retain.
///
/// ```swift
/// for try await chunk in response.body { chunk.withUnsafeBytes { hasher.update($0) } }
/// ```
public struct BodyChunk: Sendable {
    /// Memory that a transport filled. Freed with the last chunk that refers to it.
    private final class Storage: @unchecked Sendable {
        // Argument for @unchecked: the memory is filled before the storage is made and only read afterwards.
        let bytes: UnsafeRawBufferPointer
        let release: @Sendable (UnsafeMutableRawPointer) -> Void

        init(bytes: UnsafeRawBufferPointer, release: @escaping @Sendable (UnsafeMutableRawPointer) -> Void) {
            self.bytes = bytes
            self.release = release
        }

        deinit {
            if let base = bytes.baseAddress { release(UnsafeMutableRawPointer(mutating: base)) }
        }
    }

    private let storage: Storage

    /// Copies bytes.
    public init(_ bytes: some Collection<UInt8>) {
        let memory = UnsafeMutableRawBufferPointer.allocate(byteCount: bytes.count, alignment: 1)
        // Many times faster than element by element, which is what unspecialized code does.
        let isCopied: Void? = bytes.withContiguousStorageIfAvailable { source in
            memory.copyMemory(from: UnsafeRawBufferPointer(source))
        }
        if isCopied == nil { _ = memory.initializeMemory(as: UInt8.self, from: bytes) }
        storage = Storage(bytes: UnsafeRawBufferPointer(memory)) { $0.deallocate() }
    }

    /// Takes over memory that nobody writes to any more.
    ///
    /// - Parameters:
    ///   - memory: The bytes; valid until `release` is called with their address.
    ///   - release: Called once, from any thread, when the last copy of the chunk is gone.
    package init(
        adopting memory: UnsafeRawBufferPointer, release: @escaping @Sendable (UnsafeMutableRawPointer) -> Void
    ) {
        storage = Storage(bytes: memory, release: release)
    }

    /// How many bytes there are.
    public var count: Int { storage.bytes.count }

    /// Lends the bytes without a copy. The pointer is valid during the call only.
    public func withUnsafeBytes<Result, Failure: Error>(
        _ body: (UnsafeRawBufferPointer) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try body(storage.bytes)
    }

    /// A copy as `Data`.
    public var data: Data { Data(storage.bytes) }
    /// A copy as an array.
    public var array: [UInt8] { Array(storage.bytes) }
}
