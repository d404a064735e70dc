#if Server || Inspector
    import CoreMetrics
    import EssentialsPersistence
    import EssentialsTools

    /// The instruments of stores, with the name of the file as their attribute.
    struct StoreInstruments: Sendable {
        private let saveDuration: SeriesTable<String, any TimerHandler>
        private let reads: SeriesTable<String, any CounterHandler>
        private let logSize: SeriesTable<String, any MeterHandler>
        private let pending: SeriesTable<String, any RecorderHandler>
        private let conflicts: SeriesTable<String, any CounterHandler>

        init(_ factory: any MetricsFactory, limit: Int) {
            saveDuration = SeriesTable(limit: limit, overflow: other) {
                factory.makeTimer(label: "essentials.store.save.duration", dimensions: [("store", $0)])
            }
            reads = SeriesTable(limit: limit, overflow: other) {
                factory.makeCounter(label: "essentials.store.reads", dimensions: [("store", $0)])
            }
            logSize = SeriesTable(limit: limit, overflow: other) {
                factory.makeMeter(label: "essentials.store.log.size", dimensions: [("store", $0)])
            }
            pending = SeriesTable(limit: limit, overflow: other) {
                factory.makeRecorder(label: "essentials.store.pending", dimensions: [("store", $0)], aggregate: true)
            }
            conflicts = SeriesTable(limit: limit, overflow: other) {
                factory.makeCounter(label: "essentials.store.conflicts", dimensions: [("store", $0)])
            }
        }

        func record(_ event: StoreEvent) {
            guard case .called(let call) = event.kind else { return }
            let store = String(event.store.split(separator: "/").last ?? "")
            switch call.action {
            case .read: reads[store].increment(by: 1)
            case .save, .importRows: saveDuration[store].recordNanoseconds(call.duration.wholeNanoseconds)
            default: break
            }
            if let bytes = call.logBytes { logSize[store].set(bytes) }
            if call.action != .read { pending[store].record(Int64(call.pendingRows)) }
            if call.conflicts > 0 { conflicts[store].increment(by: Int64(call.conflicts)) }
        }
    }
#endif
