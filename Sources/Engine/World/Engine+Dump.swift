public import Store

/// The store as a whole.
extension Engine {
    /// Everything the store holds, private keys and tokens included.
    public func dump() throws(EngineError) -> StoreDump {
        try storing { try world.store.read { try $0.dump() } }
    }

    /// Puts a dump in the place of what the store holds; throws `DumpError` or `StoreError`, and then nothing changed.
    ///
    /// For work that runs ``alone(replacing:_:)``.
    public func replaceStore(with dump: StoreDump) throws {
        try world.store.write { try $0.replaceAll(with: dump) }
    }

    /// Removes what the store keeps of a reference identity provider.
    public func clearIdPRecords(_ idp: String) throws(EngineError) {
        try storing { _ = try world.store.write { try $0.deleteIdPRecords(idp) } }
    }

    /// Notes what happened outside of any flow, in the feed and in the store's journal.
    public func note(_ event: JournalEvent) { world.note(event) }
}
