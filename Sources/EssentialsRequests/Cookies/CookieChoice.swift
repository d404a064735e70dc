public import EssentialsHTTP

/// The cookies that the requests of an environment use instead of those of the service.
///
/// ```swift
/// var settings = RequestSettings()
/// settings.cookies = .storage(CookieJar())  // a jar for this environment alone
/// ```
///
/// Two choices are equal if they use no cookies, or the same object.
public struct CookieChoice: Sendable {
    /// An object, so that storages that are values can be compared too.
    private final class Box: Sendable {
        let storage: any CookieStorage

        init(_ storage: any CookieStorage) { self.storage = storage }
    }

    private let box: Box?
    private let identity: ObjectIdentifier?

    private init(_ box: Box?) {
        self.box = box
        identity = box.map { box in
            type(of: box.storage as Any) is AnyClass
                ? ObjectIdentifier(box.storage as AnyObject) : ObjectIdentifier(box)
        }
    }

    /// No cookies are sent or stored.
    public static let off = CookieChoice(nil)

    /// The cookies of a storage, such as a `CookieJar`. A service that has used it saves it at its shutdown.
    public static func storage(_ storage: any CookieStorage) -> CookieChoice { CookieChoice(Box(storage)) }

    /// The storage; `nil` for no cookies.
    public var storage: (any CookieStorage)? { box?.storage }
}

extension CookieChoice: Hashable {
    /// Whether both use no cookies, or the same object.
    public static func == (one: CookieChoice, other: CookieChoice) -> Bool { one.identity == other.identity }

    /// Hashes the identity of the object.
    public func hash(into hasher: inout Hasher) { hasher.combine(identity) }
}

extension CookieChoice: CustomReflectable {
    /// Whether there is a storage, without its cookies.
    public var customMirror: Mirror { Mirror(self, children: ["hasStorage": box != nil]) }
}
