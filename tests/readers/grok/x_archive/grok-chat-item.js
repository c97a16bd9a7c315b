window.YTD.grok_chat_item.part0 = [
  {
    "grokChatItem": {
      "grokMode": {
        "value": "1",
        "name": "Normal",
        "originalName": "NORMAL",
        "annotations": {}
      },
      "accountId": "42",
      "chatId": "1981000000000000001",
      "createdAt": "2025-10-23T13:12:30.000Z",
      "sender": {
        "value": "2",
        "name": "Agent",
        "originalName": "AGENT",
        "annotations": {}
      },
      "message": "Later answer."
    }
  },
  {
    "grokChatItem": {
      "grokMode": {
        "value": "1",
        "name": "Normal",
        "originalName": "NORMAL",
        "annotations": {}
      },
      "accountId": "42",
      "chatId": "1981000000000000001",
      "createdAt": "2025-10-23T13:11:59.692Z",
      "sender": {
        "value": "2",
        "name": "Agent",
        "originalName": "AGENT",
        "annotations": {}
      },
      "message": "Hi <grok:render card_id=\"e3\" card_type=\"citation_card\" type=\"render_inline_citation\">\n<argument name=\"citation_id\">14</argument>\n</grok:render>",
      "postIds": [
        "1963000000000000001"
      ]
    }
  },
  {
    "grokChatItem": {
      "grokMode": {
        "value": "1",
        "name": "Normal",
        "originalName": "NORMAL",
        "annotations": {}
      },
      "accountId": "42",
      "chatId": "1981000000000000001",
      "createdAt": "2025-10-23T13:11:59.692Z",
      "sender": {
        "value": "1",
        "name": "User",
        "originalName": "USER",
        "annotations": {}
      },
      "message": "Hello = hi"
    }
  },
  {
    "grokChatItem": {
      "grokMode": {
        "value": "1",
        "name": "Normal",
        "originalName": "NORMAL",
        "annotations": {}
      },
      "accountId": "42",
      "chatId": "1981000000000000002",
      "createdAt": "2025-10-24T10:00:00.000Z",
      "sender": {
        "value": "1",
        "name": "User",
        "originalName": "USER",
        "annotations": {}
      },
      "message": "Look at this.",
      "attachments": [
        {
          "mediaId": "77",
          "fileName": "cat.png",
          "mimeType": "image/png",
          "url": "https://ton.example/77"
        },
        "odd"
      ]
    }
  },
  {
    "grokChatItem": {
      "grokMode": {
        "value": "1",
        "name": "Normal",
        "originalName": "NORMAL",
        "annotations": {}
      },
      "accountId": "42",
      "chatId": "1981000000000000001",
      "createdAt": "2025-10-23T13:12:20.000Z",
      "sender": {
        "value": "1",
        "name": "User",
        "originalName": "USER",
        "annotations": {}
      },
      "message": "And now?"
    }
  }
]