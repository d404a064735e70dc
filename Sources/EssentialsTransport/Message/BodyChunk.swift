#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

/// An immutable piece of a streamed body. Copying it costs one retain.
///
/// ```swift
/// for try await chunk in response.body { chunk.withUnsafeBytes { hasher.update($0) } }
/// ```
public struct BodyChunk: Sendable {
    /// Memory filled by a transport. It is freed with the last chunk that refers to it.
    private final class Storage: @unchecked Sendable {
        // `@unchecked Sendable`: the memory is filled before the storage is created, and only read afterwards.
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

    /// Creates a chunk with a copy of the bytes.
    public init(_ bytes: some Collection<UInt8>) {
        let memory = UnsafeMutableRawBufferPointer.allocate(byteCount: bytes.count, alignment: 1)
        // This is many times faster than the loop over elements that unspecialized code uses.
        let isCopied: Void? = bytes.withContiguousStorageIfAvailable { source in
            memory.copyMemory(from: UnsafeRawBufferPointer(source))
        }
        if isCopied == nil { _ = memory.initializeMemory(as: UInt8.self, from: bytes) }
        storage = Storage(bytes: UnsafeRawBufferPointer(memory)) { $0.deallocate() }
    }

    /// Takes ownership of memory that is no longer written to.
    ///
    /// - Parameters:
    ///   - memory: The bytes. They stay valid until `release` is called with their address.
    ///   - release: Called once, from any thread, when the last copy of the chunk is released.
    package init(
        adopting memory: UnsafeRawBufferPointer, release: @escaping @Sendable (UnsafeMutableRawPointer) -> Void
    ) {
        storage = Storage(bytes: memory, release: release)
    }

    /// The number of bytes.
    public var count: Int { storage.bytes.count }

    /// Gives access to the bytes without a copy. The pointer is valid only during the call.
    public func withUnsafeBytes<Result, Failure: Error>(
        _ body: (UnsafeRawBufferPointer) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try body(storage.bytes)
    }

    /// A copy of the bytes as `Data`.
    public var data: Data { Data(storage.bytes) }
    /// A copy of the bytes as an array.
    public var array: [UInt8] { Array(storage.bytes) }
}
