public import EssentialsHTTP
public import EssentialsRequests
public import FoundationEssentials

/// Blobs of definitions.
///
/// ```swift
/// let picture = try await blobs.value(of: Users.picture(id: 7)) { try Picture(decoding: $0) }
/// let catalogue = try await blobs.value(of: Films.catalogue)                       // the definition's type
/// let film = try await blobs.file(of: Films.stream(id: 7))
/// ```
///
/// The address is the URL of the definition. The definition must be a GET request without a body, a range, or
/// credentials of its own. Its header fields, timeouts, retries and error model are used to load the blob, and its
/// codecs to decode it. Definitions that differ in header fields have different blobs, except for fields that select no
/// representation, such as `Cache-Control`. In all other respects a definition is like an address. A definition with a
/// base URL of its own is outside the environment's base URL.
///
/// All of these functions throw `invalidRequest` if the definition is invalid or describes no blob, and otherwise the
/// failures of the functions for addresses.
extension BlobService {
    /// The bytes of the blob of a definition; see ``bytes(at:upTo:priority:)``.
    public func bytes(
        of definition: some TypedRequest, upTo maximum: Int = BlobService.defaultMaximum,
        priority: RequestPriority? = nil
    ) async throws(RequestFailure) -> Data {
        try await found(try BlobTarget(definition), upTo: maximum, priority, nil).bytes
    }

    /// A value that is made from the bytes of the blob of a definition; see ``value(at:upTo:priority:decode:)``.
    public func value<Value: Sendable>(
        of definition: some TypedRequest, upTo maximum: Int = BlobService.defaultMaximum,
        priority: RequestPriority? = nil, decode: @escaping @Sendable (Data) throws -> Value
    ) async throws(RequestFailure) -> Value {
        try await value(try BlobTarget(definition), upTo: maximum, priority) { data, _ in try decode(data) }
    }

    /// The model of a definition. It is decoded from the blob by the codecs of the definition, or otherwise by those of
    /// the data-request service; see ``value(at:upTo:priority:decode:)``.
    public func value<Request: TypedRequest>(
        of definition: Request, upTo maximum: Int = BlobService.defaultMaximum, priority: RequestPriority? = nil
    ) async throws(RequestFailure) -> Request.Response where Request.Response: Decodable {
        let target = try BlobTarget(definition)
        let reader = ModelReader<Request.Response>(codecs: target.request?.codecs ?? codecs)
        return try await value(target, upTo: maximum, priority) { data, type in
            try reader.modelHere(from: data, contentType: type)
        }
    }

    /// The blob of a definition as an open file; see ``file(at:priority:)``.
    public func file(
        of definition: some TypedRequest, priority: RequestPriority? = nil
    ) async throws(RequestFailure) -> BlobFile {
        try await file(try BlobTarget(definition), priority)
    }

    /// Removes the blob of a definition; see ``remove(at:)``.
    public func remove(_ definition: some TypedRequest) async throws(RequestFailure) {
        try await remove(try BlobTarget(definition))
    }
}
