#if Persistence && (Server || Inspector)
    import EssentialsTools
    import Logging
    import ServiceEssentials
    import ServiceLifecycle
    import UnixSignals

    /// A server's services in a group, which tests end with signals.
    ///
    ///     LifecycleProbe URL FILE SECONDS
    ///
    /// It sends a slow request, one that waits in line behind it, and an endless stream, and it has a scope with a row that is
    /// not saved. It prints a line for the end of each of them. SIGTERM shuts the group down with a grace period of so many
    /// seconds, and SIGQUIT cancels it.
    @main
    struct LifecycleProbe {
        static func main() async throws {
            let words = CommandLine.arguments
            guard words.count == 4, let seconds = Double(words[3]) else { exit(64) }
            let (app, requests) = try services(url: words[1], file: words[2])
            let session = ServiceLocator(name: "session", parent: app)
            let notes = try session.openPersistence()
            try await notes.create(Note(id: 1, text: "unsaved"), save: .pending)
            // These two use all permits, so that the others wait in line.
            let slow = Task { await send("slow", to: requests) }
            let streaming = Task { await stream(from: requests) }
            while try state(of: requests, words[1]).permitsInUse < 2 { try await Task.sleep(for: .milliseconds(1)) }
            let queued = Task { await send("queued", to: requests) }
            let work = ServiceLocatorTask(app) { _ in
                defer { show("work ended") }
                try await requests.send(DataRequest(.get, "endless"))
            }
            let late = Task { [app] in
                while try state(of: requests, words[1]).waiting < 2 { try await Task.sleep(for: .milliseconds(1)) }
                show("waiting")
                while !app.isEnding { try await Task.sleep(for: .milliseconds(5)) }
                show("ending")
                while !requests.isClosed { try await Task.sleep(for: .milliseconds(1)) }
                await send("late", to: requests)
            }
            let services: [any Service] = [
                ServiceLocatorService(app, grace: .seconds(seconds)), ServiceLocatorService(session), work,
            ]
            var configuration = ServiceGroupConfiguration(
                services: services.map { .init(service: $0) }, gracefulShutdownSignals: [.sigterm],
                cancellationSignals: [.sigquit],
                logger: Logger(label: "probe", factory: { _ in SwiftLogNoOpLogHandler() }))
            configuration.maximumGracefulShutdownDuration = .seconds(60)
            do { try await ServiceGroup(configuration: configuration).run() } catch is CancellationError {
                show("cancelled")
            }
            for task in [slow, streaming, queued] { await task.value }
            try await late.value
            show("ended")
        }

        private static func state(of requests: HTTPDataRequestService, _ url: String) throws -> OriginLimits.State {
            try requests.limits?.state(of: RequestURL(url).origin) ?? OriginLimits.State()
        }

        private static func services(
            url: String, file: String
        ) throws -> (ServiceLocator, HTTPDataRequestService) {
            let app = ServiceLocator(name: "app")
            var store = SQLiteStore(path: file, models: [Note.self])
            store.onDiscard = { scope, count in show("\(scope) loses \(count)") }
            store.observers = [StoreEnd()]
            let table = "CREATE TABLE note(id INTEGER PRIMARY KEY NOT NULL, text TEXT NOT NULL) STRICT"
            let migration = Migration("1 notes", sql: table)
            try app.register(
                SQLitePersistenceService(store, migrations: [migration]), as: (any PersistenceService).self)
            var configuration = HTTPDataRequestService.Configuration()
            configuration.limits.concurrency = 2
            try app.register(Marker(name: "early service"), as: Marker.self, named: "early")
            let requests = try HTTPDataRequestService(
                environment: ConstantEnvironment(url), configuration: configuration)
            try app.register(requests, as: (any DataRequestService).self)
            try app.register(Marker(name: "late service"), as: Marker.self, named: "late")
            return (app, requests)
        }

        private static func send(_ path: String, to requests: any DataRequestService) async {
            do throws(RequestFailure) {
                let response = try await requests.send(DataRequest(.get, path))
                show("\(path) \(response.status.code)")
            } catch {
                show("\(path) \(error.reason.name)")
            }
        }

        private static func stream(from requests: any DataRequestService) async {
            do throws(RequestFailure) {
                let response = try await requests.send(RequestBuilder(.get, "stream").streaming())
                for try await line in response.body.lines() { show(line) }
            } catch {
                show("stream \(error.reason.name)")
            }
        }

        private static func show(_ line: String) {
            print(line)
            fflush(nil)
        }

        private struct Marker: Closeable {
            let name: String

            func close() async { show("\(name) is closed") }
        }

        private struct StoreEnd: StoreObserver {
            func observe(_ event: StoreEvent) { if event.kind == .closed { show("store is closed") } }
        }

        private struct Note: PersistentModel {
            var id: Int64
            var text: String
            static let table = "note"
            static let columns: MappedColumns<Note> = ["id": \.id, "text": \.text]
        }
    }
#else
    @main
    struct LifecycleProbe {
        static func main() {}
    }
#endif
