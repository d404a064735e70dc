public import FoundationEssentials

/// Encrypts what an entity cache stores. The program supplies the encryption and the keys; this module contains none.
///
/// ```swift
/// struct Sealing: EntitySealing {
///     let keyID = "2026-11"
///     let key: SymmetricKey
///     func seal(_ bytes: Data, context: Data) throws -> Data {
///         try ChaChaPoly.seal(bytes, using: key, authenticating: context).combined
///     }
///     func open(_ bytes: Data, keyID: String, context: Data) -> Data? {
///         guard keyID == self.keyID, let box = try? ChaChaPoly.SealedBox(combined: bytes) else { return nil }
///         return try? ChaChaPoly.open(box, using: key, authenticating: context)
///     }
/// }
/// let files = try FileEntityCache(directory: "/var/cache/shop")
/// let cache = SealedEntityCache(files, sealing: Sealing(key: key))
/// ```
public protocol EntitySealing: Sendable {
    /// Names the key that seals. It is stored in the clear beside the sealed bytes, so that keys can be changed.
    var keyID: String { get }

    /// Encrypts bytes.
    ///
    /// - Parameters:
    ///   - bytes: The entity with its header fields.
    ///   - context: The key of the entity, which is to be authenticated with the bytes, so that nobody can put one entity
    ///     in the place of another.
    func seal(_ bytes: Data, context: Data) async throws -> Data

    /// Decrypts bytes.
    ///
    /// - Returns: `nil` if the key is not known, or if the bytes were not sealed with it and the context. This counts as if
    ///   there were no entity.
    func open(_ bytes: Data, keyID: String, context: Data) async throws -> Data?
}
