#if Inspector
    import EssentialsStorage
    import EssentialsTools
    import EssentialsTransport

    /// The file of a Unix-domain socket that only its owner can open.
    ///
    /// A socket gets its mode only after it is bound, and until then others could connect. A umask would avoid this, but it is one of
    /// the whole process, and files that other threads create meanwhile would get it too. So the socket is bound in a new folder
    /// with mode 0700 beside its path, gets the mode 0600 there, and is then moved to its path.
    final class SocketFile: Sendable {
        /// The bytes of a path in `sockaddr_un`, without the final zero.
        private static let maximumPath = 107

        private let path: String
        private let parent: String
        private let folder: String
        private let published = Mutex<FileStatus.Identity?>(nil)

        /// The path at which the socket is bound.
        var boundPath: String { folder + "/s" }

        /// Creates the folder.
        init(_ path: String) throws(InspectorServerError) {
            self.path = path
            let end = path.lastIndex(of: "/")
            parent = end.map { $0 == path.startIndex ? "/" : String(path[..<$0]) } ?? "."
            var template = Array("\(parent)/.XXXXXX".utf8CString)
            guard path.utf8.count <= Self.maximumPath, template.count + 1 <= Self.maximumPath else {
                throw InspectorServerError(.path, "“\(path)” is longer than the path of a socket may be.")
            }
            guard mkdtemp(&template) != nil else {
                throw InspectorServerError(.path, "“\(parent)” cannot hold a socket: \(SystemError.last)")
            }
            folder = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
        }

        /// Moves the bound socket to its path, in the place of one that an ended program has left.
        func publish() throws(InspectorServerError) {
            let calls = FileCalls.system
            do throws(FileError) {
                // Two programs that start with one path look and move one after the other.
                let lock = try FileLock.wait(directory: parent, .brief)
                defer { withExtendedLifetime(lock) {} }
                guard problem() == nil else { throw FileError(code: EEXIST) }
                guard chmod(boundPath, 0o600) == 0 else { throw FileError.last }
                let status = try FileStatus(of: boundPath, followsLink: false)
                try calls.rename(boundPath, path)
                published.withLock { $0 = status.identity }
            } catch {
                if let problem = problem() { throw problem }
                throw InspectorServerError(.path, "“\(path)” cannot be created: \(SystemError(code: error.code))")
            }
        }

        /// Removes the socket, unless another program has replaced it, and the folder.
        func remove() {
            let calls = FileCalls.system
            if let identity = published.withLock({ $0 }),
                (try? FileStatus(of: path, followsLink: false))?.identity == identity
            {
                try? calls.remove(path)
            }
            try? calls.remove(boundPath)
            rmdir(folder)
        }

        /// Why the path is not free; `nil` if it is.
        private func problem() -> InspectorServerError? {
            guard let status = try? FileStatus(of: path, followsLink: false) else { return nil }
            guard status.isSocket else { return InspectorServerError(.path, "“\(path)” is a file that is no socket.") }
            return isStale() ? nil : InspectorServerError(.path, "Another program listens on “\(path)”.")
        }

        /// Whether the socket at the path refuses connections, as one does whose program has ended.
        private func isStale() -> Bool {
            let descriptor = socket(
                AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue), 0)
            guard descriptor >= 0 else { return false }
            defer { close(descriptor) }
            var address = sockaddr_un()
            address.sun_family = sa_family_t(AF_UNIX)
            withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
            let result = withUnsafePointer(to: &address) {
                $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
                }
            }
            return result != 0 && errno == ECONNREFUSED
        }
    }
#endif
