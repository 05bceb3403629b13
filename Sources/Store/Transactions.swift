/// What a transaction can read; each record kind adds its lookups in its own file.
public class StoreReader {
    private var open: Connection?

    init(_ connection: Connection) {
        open = connection
    }

    /// The connection, while the transaction lasts.
    final var connection: Connection {
        guard let open else { preconditionFailure("a store reader was used after its transaction ended") }
        return open
    }

    final func close() {
        open = nil
    }
}

/// What a writing transaction can do: everything a reader can, and each record kind's changes.
public final class StoreWriter: StoreReader {}
