import Encoding
import Testing

@testable import SignIn

@Suite struct SecrecyTests {
    @Test func `nothing a flow hands out shows a secret in its description`() throws {
        var script = Script()
        var texts: [String] = []
        try script.start()
        for _ in 0..<30 where !script.flow.isFinished {
            let effect = try #require(script.open.first)
            let event = try #require(try GoodWorld.answer(to: effect))
            texts += shown(effect) + shown(event) + shown(script.flow) + shown(script.state) + shown(script.last)
            if case .call(let call) = effect.action { texts += shown(call) + shown(call.body) }
            if case .responded(_, let response) = event { texts += shown(response) }
            try script.send(event)
        }
        #expect(script.state.name == "signedIn")
        texts += shown(Phone.shared.secrets) + shown(script.flow) + shown(Optional(script.flow))
        let secrets = Secret.all + [try Replies.accessToken(), try Replies.idToken()]
        for text in texts {
            for secret in secrets { #expect(!text.contains(secret), "\(text.prefix(60))") }
        }
        #expect(texts.contains { $0.contains("#1 discover") })
    }

    @Test func `no failure message shows a secret`() throws {
        for response in [
            Replies.html, Replies.json(200, ["authorization_code": 7]), Replies.error(400, "invalid_grant"),
            try Replies.tokens(["access_token": .string("two " + Secret.code)]),
            try Replies.tokens(["token_type": "Bearer"]),
            try Replies.tokens(["id_token": .string(try Replies.idToken(["nonce": .string(Secret.code)]))]),
        ] {
            for step in ["call(start)", "call(faceToken)", "call(completion)", "call(token)"] {
                var script = Script()
                try script.advance(to: step)
                try script.respond(response)
                let text = script.failure.map { $0.message + String(reflecting: $0) } ?? ""
                for secret in Secret.all { #expect(!text.contains(secret)) }
            }
        }
    }

    private func shown(_ value: some Any) -> [String] {
        var dumped = ""
        dump(value, to: &dumped)
        return [String(describing: value), String(reflecting: value), dumped]
    }
}
