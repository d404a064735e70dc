#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

/// An immutable piece of a streamed body: a random-access collection of bytes. Copying it costs one retain.
///
/// ```swift
/// for try await chunk in response.body {
///     chunk.withUnsafeBytes { hasher.update($0) }
///     if let end = chunk.firstIndex(of: UInt8(ascii: "\n")) { lines.append(Array(chunk[..<end])) }
/// }
/// ```
///
/// A slice is a chunk too. It shares the memory and the indices of the chunk that it was taken from, so its
/// ``startIndex`` may be greater than 0, and it keeps the whole memory alive. Two chunks are equal if they have the same
/// bytes.
public struct BodyChunk: Sendable {
    /// Memory filled by a transport. It is freed with the last chunk that refers to it.
    @usableFromInline
    final class Storage: @unchecked Sendable {
        // `@unchecked Sendable`: the memory is filled before the storage is created, and only read afterwards.
        @usableFromInline let bytes: UnsafeBufferPointer<UInt8>
        private let release: @Sendable (UnsafeMutableRawPointer) -> Void

        init(bytes: UnsafeRawBufferPointer, release: @escaping @Sendable (UnsafeMutableRawPointer) -> Void) {
            self.bytes = bytes.bindMemory(to: UInt8.self)
            self.release = release
        }

        deinit {
            if let base = bytes.baseAddress { release(UnsafeMutableRawPointer(mutating: base)) }
        }
    }

    @usableFromInline let storage: Storage
    /// The index of the first byte. It is 0 unless the chunk is a slice.
    public let startIndex: Int
    /// The index after the last byte.
    public let endIndex: Int

    @usableFromInline
    init(_ storage: Storage, _ bounds: Range<Int>) {
        self.storage = storage
        startIndex = bounds.lowerBound
        endIndex = bounds.upperBound
    }

    /// Creates a chunk with a copy of the bytes.
    public init(_ bytes: some Collection<UInt8>) {
        let memory = UnsafeMutableRawBufferPointer.allocate(byteCount: bytes.count, alignment: 1)
        // This is many times faster than the loop over elements that unspecialized code uses.
        let isCopied: Void? = bytes.withContiguousStorageIfAvailable { source in
            memory.copyMemory(from: UnsafeRawBufferPointer(source))
        }
        if isCopied == nil { _ = memory.initializeMemory(as: UInt8.self, from: bytes) }
        self.init(Storage(bytes: UnsafeRawBufferPointer(memory)) { $0.deallocate() }, 0..<memory.count)
    }

    /// Takes ownership of memory that is no longer written to.
    ///
    /// - Parameters:
    ///   - memory: The bytes. They stay valid until `release` is called with their address.
    ///   - release: Called once, from any thread, when the last copy of the chunk is released.
    package init(
        adopting memory: UnsafeRawBufferPointer, release: @escaping @Sendable (UnsafeMutableRawPointer) -> Void
    ) {
        self.init(Storage(bytes: memory, release: release), 0..<memory.count)
    }

    /// Gives access to the bytes without a copy. The pointer is valid only during the call.
    @inlinable
    public func withUnsafeBytes<Result, Failure: Error>(
        _ body: (UnsafeRawBufferPointer) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        // The optimizer may otherwise release the storage while its memory is read.
        defer { withExtendedLifetime(storage) {} }
        return try body(UnsafeRawBufferPointer(UnsafeBufferPointer(rebasing: storage.bytes[startIndex..<endIndex])))
    }

    /// A copy of the bytes as `Data`.
    public var data: Data { withUnsafeBytes { Data($0) } }
    /// A copy of the bytes as an array.
    public var array: [UInt8] { withUnsafeBytes { Array($0) } }
}

extension BodyChunk: RandomAccessCollection {
    /// The byte at an index, which must be one of ``indices``.
    @inlinable
    public subscript(position: Int) -> UInt8 {
        precondition(position >= startIndex && position < endIndex, "The index is outside the chunk.")
        return withExtendedLifetime(storage) { storage.bytes[position] }
    }

    /// A part of the chunk, which shares its memory and its indices. The range must be inside ``indices``.
    @inlinable
    public subscript(bounds: Range<Int>) -> BodyChunk {
        precondition(
            bounds.lowerBound >= startIndex && bounds.upperBound <= endIndex, "The range is outside the chunk.")
        return BodyChunk(storage, bounds)
    }

    /// The indices of all bytes.
    @inlinable public var indices: Range<Int> { startIndex..<endIndex }

    /// Gives access to the bytes without a copy. The result is never `nil`.
    @inlinable
    public func withContiguousStorageIfAvailable<Result>(
        _ body: (UnsafeBufferPointer<UInt8>) throws -> Result
    ) rethrows -> Result? {
        defer { withExtendedLifetime(storage) {} }
        return try body(UnsafeBufferPointer(rebasing: storage.bytes[startIndex..<endIndex]))
    }
}

extension BodyChunk: Hashable {
    /// Whether two chunks have the same bytes.
    public static func == (left: BodyChunk, right: BodyChunk) -> Bool {
        guard left.count == right.count else { return false }
        return left.withUnsafeBytes { left in right.withUnsafeBytes { left.elementsEqual($0) } }
    }

    /// Hashes the bytes.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(count)
        withUnsafeBytes { hasher.combine(bytes: $0) }
    }
}

extension BodyChunk: ContiguousBytes, DataProtocol {
    /// The chunk itself, because its bytes are contiguous.
    public var regions: CollectionOfOne<BodyChunk> { CollectionOfOne(self) }
}

extension BodyChunk: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The number of bytes, without the bytes.
    public var description: String { RedactedText.size(count) }
    /// The same as ``description``.
    public var debugDescription: String { description }
    /// No children, because ``description`` contains everything that may be shown.
    public var customMirror: Mirror { Mirror(self, children: []) }
}

extension BodyChunk {
    /// Chunks below this size are copied, so that a few bytes do not keep a transport's buffer alive.
    private static let smallestShared = 16 << 10

    /// The bytes as `Data`, which shares the memory unless the chunk is small or less than half of its memory. The
    /// result must not be changed.
    package var sharedData: Data {
        guard count >= Self.smallestShared, count >= storage.bytes.count / 2 else { return data }
        return withUnsafeBytes { bytes in
            guard let base = bytes.baseAddress else { return Data() }
            return Data(
                bytesNoCopy: UnsafeMutableRawPointer(mutating: base), count: bytes.count,
                deallocator: .custom { [storage] _, _ in withExtendedLifetime(storage) {} })
        }
    }
}
