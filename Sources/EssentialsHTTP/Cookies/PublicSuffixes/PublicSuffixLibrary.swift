import EssentialsTools

#if canImport(Glibc)
    /// The public suffix list of libpsl, which is loaded with dlopen(3), because its headers are rarely installed.
    ///
    /// `@unchecked Sendable`: all properties are constants. libpsl does not change a list after it is created, and
    /// the one function that is called later only reads it. The list is freed with the last reference to this object.
    /// The library itself is never unloaded, so the function pointers stay valid.
    final class PublicSuffixLibrary: @unchecked Sendable {
        private typealias Latest = @convention(c) (UnsafePointer<CChar>?) -> OpaquePointer?
        private typealias BuiltIn = @convention(c) () -> OpaquePointer?
        private typealias Free = @convention(c) (OpaquePointer?) -> Void
        private typealias IsSuffix = @convention(c) (OpaquePointer?, UnsafePointer<CChar>?) -> CInt
        private typealias Version = @convention(c) () -> UnsafePointer<CChar>?

        private let list: OpaquePointer
        private let isSuffix: IsSuffix
        private let free: Free?
        /// The version of the library.
        let version: String

        /// Loads a library; `nil` if it does not exist, lacks a function, or has no list.
        init?(_ name: String) {
            guard let library = dlopen(name, RTLD_NOW | RTLD_LOCAL) else { return nil }
            guard let isSuffix = Self.function("psl_is_public_suffix", library, as: IsSuffix.self),
                let builtIn = Self.function("psl_builtin", library, as: BuiltIn.self)
            else {
                dlclose(library)
                return nil
            }
            // The newer of the system's list file and the built-in list. Versions before 0.16 do not have the function.
            let latest = Self.function("psl_latest", library, as: Latest.self)
            guard let list = latest?(nil) ?? builtIn() else { return nil }
            self.list = list
            self.isSuffix = isSuffix
            free = Self.function("psl_free", library, as: Free.self)
            let text = Self.function("psl_get_version", library, as: Version.self)?()
            version = text.map { String(cString: $0) } ?? "of unknown version"
        }

        // The function does nothing for the built-in list.
        deinit { free?(list) }

        func isPublicSuffix(_ domain: String) -> Bool {
            isSuffix(list, domain) != 0
        }

        private static func function<Function>(
            _ name: String, _ library: UnsafeMutableRawPointer, as type: Function.Type
        ) -> Function? {
            dlsym(library, name).map { unsafeBitCast($0, to: type) }
        }
    }
#endif
