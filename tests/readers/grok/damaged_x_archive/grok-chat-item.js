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
      "createdAt": "2025-10-23T13:11: ,
 "stray", 5